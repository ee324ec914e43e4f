// An imported module is evaluated once in each worker, this file once for each test file.
import './exit-with-run.ts';
