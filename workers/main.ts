import { compose } from '../src/compose.ts';
import { openProcessTracing } from '../src/start/connections.ts';
import { runProcess } from '../src/start/run-process.ts';
import { startWorker } from './start.ts';

/** `npm run worker`: one worker process against DATABASE_URL, REDIS_URL and S3_*. */
await runProcess('worker', async (config, lifecycle) => {
  await startWorker(compose(config, 'worker', await openProcessTracing(config, 'worker')), lifecycle);
});
