import { printFigures } from '../scripts/parts/format-figures.ts';
import { runProgram } from '../scripts/parts/run-program.ts';
import { readOptions, usage } from './options.ts';
import { runRound } from './round.ts';
import { runRounds } from './rounds.ts';

await runProgram(async (program) => {
  const { json, help, folder, ...options } = readOptions();
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  if (folder === undefined) {
    const { figures, passed } = await runRound(options, program);
    await printFigures(figures, json);
    return passed ? 0 : 1;
  }
  const result = await runRounds({ ...options, folder }, program);
  if (result) await printFigures(result, json);
  return result?.grown.length === 0 ? 0 : 1;
});
