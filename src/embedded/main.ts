import { fileURLToPath } from 'node:url';
import { runLauncher } from './run-launcher.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

await runLauncher(
  { api: at('../main.js'), worker: at('../../workers/main.js'), migrate: at('../migrate.js') },
  process.argv.slice(2),
  process.env,
);
