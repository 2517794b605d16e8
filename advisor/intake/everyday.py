"""Words of everyday questions, which need no understanding: what is left of a question without them is told to the user."""

EVERYDAY = """
realtime voice noob newbie
hgx dgx access
asus dell hp lenovo msi acer razer gigabyte evga zotac palit gainward sapphire xfx powercolor asrock founders fe rgb egpu egpus no1 both
atm btw imo imho tbh rn kid living room exceed exceeding prefer expected draw resale refurbished fair goal poor adults adult children kids child homeassistant pages page unlocked
a about actually after again ago all already also always am an and another any anyone are as ask at available bad be because been before being
best better big bigger both but buy buying by can cannot card cards chat coding cost could currently day deal decent do does doing done each
either else enough ever every fast faster fastest few fine first fit fits for from get getting give go going good got gpu gpus graphics great
had half handle hardware has have help helps here home how i if in inference instead into is it its just keep large larger later less like
little llm llms load local locally long lot lots machine make many may maybe me mean memory min mine model models money more most much must my
myself need needed needs never new next no not now of off office ok old on one only open or other our out over own owner pay per plan please
plus possible power price pro prompt prompts pull purchase put quality quant quants question quick quickly ram rather really reasonable replace
run running runs same save second sell selling serve served serving server set setup should simple since single size small smaller so some
someone something soon speed spend start still stick store stuff such sure system take team tell than that the their them then there these they
thing things think this those though through time to together tokens too total tower try two type under until up upgrade us use used user users
using usually very via video vram vs want was way we well were what when where whether which while who why will wish with within without work
workstation works worth would yet you your context length window budget additional extra third home assistant agent agents answer answers ai
company considering compare compared versus choose pick between pair dual triple quad cluster box boxes pc desktop computer studio mini laptop
usd dollar dollars max maximum least cheap cheapest cheaper expensive today tomorrow year month week wait everybody everyone parameters
parameter dense mixture experts expert weights version edition standard plain normal usual quiet noise slot slots board motherboard hi hello
thanks thank dear i'm i've i'd it's that's what's don't doesn't isn't can't won't we're they're colleagues people english language languages text summarise read
bought buys beat beats against join add adding swap let lets know say said says see look looks able bit sense makes whole long-context
alone twice once upon per-user each-user tok tokens/s around roughly maybe ideally comfortably daily mostly mainly whatever anything nothing
speedy slow slower slowly generation generate generating writing reader documents document docs code programming write work-load workload
gaming thinking currently upgraded upgrading hello friend friends family kids wife husband boss client clients business firm shop lab school
connected connect link linked links joined slower-card stay stays sit sits sitting inside machine's gpu's card's
grab dumb combo process struggle return gave idle tight noticeable smart sensible stack swap behave hurt raise missing behind quantize llama lie
word words ttft law legal
2nd 3rd 4th 5th 6th 7th 8th macbook macbooks mbp regardless moment studios nvlink hey hi guys folks everyone rig rigs wondering wonder curious interested guess basically literally honestly simply essentially fairly quite rather pretty
kind sort type lots bunch couple few several various different similar same other others another either neither both each every any some none nobody
please advice advise recommendation recommend suggestion suggest tip opinion opinions thought thoughts idea ideas experience experiences question
understand explain consider consideration decide decision deciding debate torn stuck lost confused unsure sure certain clear obvious obviously
buy purchase acquire obtain grab pick order invest investment spend waste save money cash fund afford affordable cheap expensive pricey overpriced
value bang buck worth worthwhile worthy price cost deal bargain sale discount retail msrp street market ebay craigslist marketplace facebook
upgrade downgrade replace swap switch move change add put plug install stick throw build assemble setup config configure configuration configured
current currently existing present old older new newer brand recent recently latest modern future proof futureproof ahead later soon year years month
months week weeks day days time times hour hours minute minutes second seconds today tonight tomorrow yesterday now then before after during while until
since already still yet again once twice always never often sometimes usually mostly mainly primarily rarely everything something nothing anything
run running ran handle load loading fit fitting squeeze work working works use using usage utilise utilize serve host hosting deploy deployment
inference infer local locally home homelab lab office cloud api remote private privacy offline self hosted selfhosted daily driver hobby hobbyist
professional production prod business work company startup small medium large big huge giant massive tiny little bigger biggest smaller smallest larger
largest long longer longest short shorter high higher highest low lower lowest good better best great excellent decent okay fine bad worse worst poor
fast faster fastest quick quicker slow slower slowest speed speeds snappy sluggish usable unusable comfortable comfortably acceptable reasonable
reasonably practical realistic realistically possible possibly impossible feasible doable able unable enough sufficient insufficient plenty more most
less least fewer extra spare max maximum minimum min limit limits limited bottleneck bottlenecked constraint issue issues problem problems trouble
wrong right correct true false really actually even just only also too very much many so such like unlike than as though although however but because
therefore thus hence anyway besides instead rather whether if unless when where why how what which who whom whose that this these those there here
it its they them their he she his her him you your we us our me my mine myself ourselves i'm i've i'd i'll it's that's there's what's who's
he's she's we're we've we'll they're they've you're you've don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't
haven't hasn't hadn't dont doesnt isnt cant wont im ive id ill lets let's theres whats gonna wanna gotta kinda sorta ya yeah yes no nope ok okay lol
thx thanks cheers regards appreciate appreciated help helps helped helpful useful useless benefit benefits gain gains improve improves improvement
improved increase increases increased double doubling doubled triple half halve boost matter matters difference differences compare compared
comparison comparable equal equally versus against over under above below between among within across through along beside next near far from to into
onto in on at by for of off out up down with without per about around approximately approx roughly nearly almost exactly
included include includes including beginner beginners newbie
desktop desktops tower workstation workstations server servers laptop laptops notebook pc pcs computer computers machine machines box boxes case chassis
board boards motherboard mobo slot slots socket lane lanes pcie pci cpu cpus processor processors core cores thread threads ram memory ddr4 ddr5 vram
storage ssd nvme disk drive psu power supply watt watts wattage electricity heat hot cooling cool cooler fan fans noise noisy quiet loud silent space
room rack cable cables riser adapter usb thunderbolt ethernet network networking wifi os linux ubuntu windows macos driver drivers cuda rocm vulkan metal
software engine engines backend framework tool tools app apps gpu gpus card cards graphics video nvidia amd intel apple geforce radeon rtx gtx quadro
tesla model models llm llms ai ml weights parameter parameters params param quant quants quantized quantised quantization quantisation quantize precision
bit bits token tokens context contexts window windows prompt prompts prefill decode decoding generation generate generating output outputs input inputs
reply replies response responses respond answer answers throughput latency concurrent concurrently concurrency parallel simultaneous simultaneously
batch batched batching single multi multiple user users people person family team colleague colleagues coworkers wife kids friends students customers
clients employees agent agents agentic coding coder code programming programmer developer developers dev devs write writing story stories roleplay rp
chat chatbot assistant summarise summarize summarization summary translate translation rag document documents docs pdf pdfs text texts email emails
research science medical legal study studies learning image images video whisper vision
should shall would could will can may might must need needs needed want wants wanted wish hope hoping plan plans planning think thinks thought believe
feel guess know knows knew tell told say says said hear heard read reading see sees saw seen look looks looking find found show shows try tries tried
trying keep keeps kept stay stays stick hold wait waiting sell selling sold trade get gets got getting give gives given make makes made take takes took
come comes coming go goes going went leave leaves bring brings start starts started stop stops happen happens seem seems appear become becomes end ends
pay pays paid own owns owned owner have has had having do does did done doing be is are was were been being am a an the and or nor not no
all alone away back case certain close couple end entire extremely first second third last final fourth fifth full fully half whole part parts piece
point reason reasons sense side sides step thing things kinda total totally way ways world bit lot ton tons bunch number numbers amount level option
options choice choices alternative alternatives solution solutions route path road approach method scenario scenarios situation purpose purposes task
tasks job jobs workload workloads project projects product products item items stuff hardware gear rig components component part
hello greetings title edit update post thread forum reddit localllama sub subreddit discord youtube blog article review reviews benchmark benchmarks
test tests tested testing numbers result results score reported claim claims said people everyone somebody anyone available availability stock order
dad mom brother sister son daughter father mother uncle roommate flatmate girlfriend boyfriend partner husband boss client
pointless necessary unnecessary important crucial critical required require requires recommended suitable ideal ideally perfect optimal overkill
underpowered powerful strong weak stronger weaker beefy hefty serious proper solid stable reliable reliability risk risky safe dangerous simple simpler
easy easier easiest hard harder difficult complex complicated hassle pain mess messy clean neat nice fun cool awesome terrible horrible awful garbage
modded modified modifizierte rebuilt stock
inside outside beside together separate separately apart combine combined combining pool pooled pooling share shared sharing split splits splitting
spread distribute distributed join joined pair paired connect connected connecting connection link linked bridge bridged attach attached mix mixed mixing
match matched matching identical slower-card offload offloading offloaded spill layer layers expert experts dense sparse moe mixture hybrid
reasoning reason thinking instruct base distill distilled uncensored abliterated open source weight version versions variant size sizes sized class
tier range order magnitude ratio percent times twice fold factor
germany german europe european eu usa us uk british canada canadian australia india switzerland swiss france french local country tax vat shipping
doing anything bother justify justified regret happy unhappy satisfied content enjoy love hate like dislike prefer preferably priority
min max avg average typical typically normal normally common usual standard default regular basic advanced pro
also maybe perhaps probably likely unlikely definitely absolutely certainly surely seriously quickly slowly easily hardly barely
"""


def everyday_words() -> frozenset[str]:
    """All of them."""
    return frozenset(EVERYDAY.split())
