CREATE TABLE IF NOT EXISTS llama_bench (build_commit TEXT, avg_ts REAL);

INSERT INTO llama_bench (build_commit, build_number, gpu_info, backends, model_filename, model_type, model_size, model_n_params, n_gpu_layers, split_mode, n_prompt, n_gen, n_depth, avg_ts, stddev_ts) VALUES ('abcdef12', '6543', 'NVIDIA GeForce RTX 3090, NVIDIA GeForce RTX 3090', 'CUDA', 'Llama-3.1-8B-Q8_0.gguf', 'llama 8B Q8_0', '8535000000', '8030261312', '99', 'layer', '0', '128', '4096', '79.300000', '0.1');
