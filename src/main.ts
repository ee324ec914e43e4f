import { startApi } from './api.ts';
import { compose, tracingOf } from './compose.ts';
import { runProcess } from './process.ts';

/** `npm run api`: one API process against DATABASE_URL and REDIS_URL. */
await runProcess('api', async (config, lifecycle) => {
  await startApi(compose(config, 'api', await tracingOf(config, 'api')), lifecycle);
});
