"""What people paste or point at, read into records: model files, tool output, benchmarks, questions."""
