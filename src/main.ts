import { startApi } from './api.ts';
import { compose } from './compose.ts';
import { openProcessTracing } from './start/connections.ts';
import { runProcess } from './start/run-process.ts';

/** `npm run api`: one API process against DATABASE_URL and REDIS_URL. */
await runProcess('api', async (config, lifecycle) => {
  await startApi(compose(config, 'api', await openProcessTracing(config, 'api')), lifecycle);
});
