"""Does quantization keep the personalized subject? Pictures of every method, scored."""
