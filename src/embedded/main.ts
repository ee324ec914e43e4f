import { fileURLToPath } from 'node:url';
import { runLauncher } from './run-launcher.ts';

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));

await runLauncher(
  {
    api: resolvePath('../main.js'),
    worker: resolvePath('../../workers/main.js'),
    migrate: resolvePath('../migrate.js'),
  },
  process.argv.slice(2),
  process.env,
);
