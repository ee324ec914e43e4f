import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawTable } from '../bench/graph.ts';
import { growsBeyondData, isFlat } from '../bench/load/growth.ts';
import { toMegabytes } from '../bench/start/snapshot.ts';
import { readIfExists } from '../src/embedded/private-file.ts';
import type { Program } from '../scripts/parts/run-program.ts';
import type { Installation } from './installation.ts';
import { runRound } from './round.ts';

/** What `rounds.jsonl` keeps of a round. */
interface FinishedRound extends Installation {
  round: number;
  seed: number;
  acknowledged: number;
  tried_again: number;
  events_seen: number;
  faults: number;
  longest_until_whole_ms: number;
}

/** What a restart of all processes keeps, as each round does. */
const kept = ['redis_mb', 'queued', 'outbox'] as const;
const sum = (counts: Record<string, number>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/**
 * Runs rounds on the data of the rounds before, until there are as many as asked for. Each has agents of its own. A run that ended early
 * continues with the next round.
 * @returns the figures of all rounds, and what grew but should not; null when a round failed
 */
export async function runRounds(
  { seconds, seed, rounds, folder }: { seconds: number; seed: number; rounds: number; folder: string },
  program: Program,
) {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'rounds.jsonl');
  const finished = parseLines(readIfExists(file) ?? '');
  while (finished.length < rounds) {
    const round = finished.length + 1;
    // A round that ended early has left agents.
    const name = `chaos-${Date.now().toString(36)}`;
    const parts = { seconds, seed: (finished.at(-1)?.seed ?? seed - 1) + 1, folder, name };
    const { figures, installation, passed } = await runRound(parts, program);
    if (!passed || !installation) return null;
    const { acknowledged, tried_again, longest_until_whole_ms } = figures;
    const [events_seen, faults] = [sum(figures.events_seen), sum(figures.faults)];
    const counts = { acknowledged, tried_again, events_seen, faults, longest_until_whole_ms };
    finished.push({ round, seed: parts.seed, ...counts, ...installation });
    await appendFile(file, `${JSON.stringify(finished.at(-1))}\n`);
    program.log(`round ${round}: ${JSON.stringify({ ...counts, ...installation, tables: undefined })}`);
  }
  const rows = finished.map(({ tables, ...row }) => ({
    ...row,
    messages: tables.find(({ name }) => name === 'messages')?.rows ?? 0,
    tables_mb: toMegabytes(tables.reduce((total, { bytes }) => total + bytes, 0)),
  }));
  await writeFile(join(folder, 'rounds.svg'), drawTable(rows));
  return { rounds: rows, grown: findGrown(finished) };
}

const parseLines = (text: string): FinishedRound[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FinishedRound);

/** What rose in the second half: the memory of Redis, jobs, and tables beyond their data. */
function findGrown(finished: readonly FinishedRound[]): string[] {
  const second = finished.slice(Math.floor(finished.length / 2));
  const before = new Map(second[0]?.tables.map((table) => [table.name, table]));
  const tables = second.at(-1)?.tables ?? [];
  return [
    ...kept.filter((name) => !isFlat(second.map((each) => each[name] ?? 0))),
    ...tables
      .filter((table) => growsBeyondData(before.get(table.name) ?? { ...table, rows: 0, bytes: 0 }, table))
      .map(({ name }) => `table ${name}`),
  ];
}
