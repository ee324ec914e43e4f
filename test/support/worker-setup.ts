// What is imported is evaluated once in each worker, this file once for each test file.
import './end-with-the-run.ts';
