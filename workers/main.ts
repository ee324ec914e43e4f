import { compose, tracingOf } from '../src/compose.ts';
import { runProcess } from '../src/process.ts';
import { startWorker } from './start.ts';

/** `npm run worker`: one worker process against DATABASE_URL, REDIS_URL and S3_*. */
await runProcess('worker', async (config, lifecycle) => {
  await startWorker(compose(config, 'worker', await tracingOf(config, 'worker')), lifecycle);
});
