import { startApi } from './api.ts';
import { compose, openProcessTracing } from './compose.ts';
import { runProcess } from './start/run-process.ts';

/** `npm run api`: one API process against DATABASE_URL and REDIS_URL. */
await runProcess('api', async (config, lifecycle) => {
  await startApi(compose(config, 'api', await openProcessTracing(config, 'api')), lifecycle);
});
