import { formatFigures } from '../scripts/parts/format-figures.ts';
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
  const figures = await runMeasurement({ options, ...program }, suites[options.part]);
  process.stdout.write(options.json ? `${JSON.stringify(figures)}\n` : formatFigures(figures));
  return 0;
});
