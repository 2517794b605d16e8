"""Words of everyday questions, which need no understanding: what is left of a question without them is told to the user."""

EVERYDAY = """
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
thanks thank dear i'm i've i'd it's that's what's don't doesn't isn't can't won't we're they're colleagues people english text summarise read
bought buys beat beats against join add adding swap let lets know say said says see look looks able bit sense makes whole long-context
alone twice once upon per-user each-user tok tokens/s around roughly maybe ideally comfortably daily mostly mainly whatever anything nothing
speedy slow slower slowly generation generate generating writing reader documents document docs code programming write work-load workload
gaming thinking currently upgraded upgrading hello friend friends family kids wife husband boss client clients business firm shop lab school
connected connect link linked links joined slower-card stay stays sit sits sitting inside machine's gpu's card's
"""


def everyday_words() -> frozenset[str]:
    """All of them."""
    return frozenset(EVERYDAY.split())
