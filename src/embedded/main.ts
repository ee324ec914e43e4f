import { runLauncher, serviceEntries } from './run-launcher.ts';

await runLauncher(serviceEntries, process.argv.slice(2), process.env);
