import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
if (process.argv.length === 2) {
  process.stderr.write(
    'the tests of every change: about four minutes on two cores; npm test -- test/unit runs a part\n',
  );
}
process.argv = [process.argv[0], vitest, 'run', ...process.argv.slice(2)];
await import(pathToFileURL(vitest).href);
