import { readSources } from '../unit/architecture/source-files.ts';

const registration = /lifecycle\.onStop\((?:'[^']+', (?:leaveMs \+ )?([\d_]+))?/g;
const phases = readSources(['src', 'workers'])
  .filter(({ path }) => !path.startsWith('src/embedded/'))
  .flatMap(({ path, text }) =>
    Array.from(text.matchAll(registration), ([, ms]) => {
      if (ms === undefined) throw new Error(`${path}: the limit of a phase is not a number`);
      return { path, seconds: Number(ms.replaceAll('_', '')) / 1_000 };
    }),
  );
const ofBoth = new Set(['src/ops/listener.ts', 'src/start/clock.ts']);
const sumOf = (isPart: (path: string) => boolean) =>
  phases.filter(({ path }) => isPart(path)).reduce((sum, { seconds }) => sum + seconds, 0);

/** What all phases of a stop can take together, without DRAIN_SECONDS. */
export const stopSeconds = {
  api: sumOf((path) => path.startsWith('src/')),
  worker: sumOf((path) => path.startsWith('workers/') || ofBoth.has(path)),
};
