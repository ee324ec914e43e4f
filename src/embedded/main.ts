import { runLauncher } from './run-launcher.ts';

await runLauncher(process.argv.slice(2), process.env);
