import { runProgram } from '../scripts/parts/run-program.ts';
import { readOptions, usage } from './options.ts';
import { runMeasurement } from './start/service.ts';
import { suites } from './suites/suites.ts';

await runProgram(async (program) => {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const { figures, text } = await runMeasurement({ options, ...program }, suites[options.part]);
  process.stdout.write(options.json ? `${JSON.stringify(figures)}\n` : text);
  return 0;
});
