import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { runProcess } from '../../../src/start/run-process.ts';
import { conformanceFixtures } from './fixtures.ts';

/** The API process of the service with what the conformance suite looks for: nothing else of it differs. */
await runProcess('api', async (config, lifecycle) => {
  await startApi(compose(config, 'api'), lifecycle, { mcp: { additions: conformanceFixtures } });
});
