import { writeFile } from 'node:fs/promises';
import { printFigures } from '../scripts/parts/format-figures.ts';
import { runProgram } from '../scripts/parts/run-program.ts';
import { drawTable } from './graph.ts';
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
  if (options.graph !== undefined) await writeGraph(options.graph, figures);
  await printFigures(figures, options.json);
  return 0;
});

/** Draws the first table of the figures. */
async function writeGraph(file: string, figures: object): Promise<void> {
  const table = Object.values(figures).find((value): value is Record<string, unknown>[] =>
    Array.isArray(value),
  );
  if (!table?.length) throw new Error('--graph: this suite has no table');
  await writeFile(file, drawTable(table));
}
