import { performance } from 'node:perf_hooks';
import { compose, type Core } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { createTokens, toResourceUrls } from '../src/services/auth/tokens.ts';
import { createReader, issueTokenFor } from './population.ts';
import type { Environment } from './environment.ts';

/** Microseconds per check of an access token, as the median of the rounds. */
export interface TokensMeasurement {
  /** A cached token. */
  hit_us: number;
  /** A token that must be looked up, one after the other. */
  miss_us: number;
  miss_per_hit: number;
  rounds: number;
  hits_per_round: number;
  misses_per_round: number;
}

const rounds = 11;
const cachedTokens = 100;
const hitsPerRound = 100_000;
const missesPerRound = 1_000;

/** Measures the cost of an access token check; see docs/performance.md. */
export async function measureTokens(
  environment: Environment,
  signal: AbortSignal,
): Promise<TokensMeasurement> {
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  try {
    return await measureOn(core, signal);
  } finally {
    await core.close();
  }
}

async function measureOn(core: Core, signal: AbortSignal): Promise<TokensMeasurement> {
  const { reader } = await createReader(core, 'tokens', 0);
  const bearers: string[] = [];
  while (bearers.length < cachedTokens) bearers.push(await issueTokenFor(core, reader.handle));
  const tokens = createTokens({
    find: (hash) => core.unitOfWork.readAsSystem((repositories) => repositories.tokens.find(hash)),
    resources: toResourceUrls(core.config.PUBLIC_URL),
  });
  const checkAll = async (times: number) => {
    for (let done = 0; done < times; done += cachedTokens) {
      for (const bearer of bearers) await tokens.verify(bearer, 'api');
    }
  };

  const hits: number[] = [];
  const misses: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    signal.throwIfAborted();
    tokens.forget({ agent_id: reader.id });
    await checkAll(cachedTokens);
    hits.push(await microseconds(() => checkAll(hitsPerRound), hitsPerRound));
    misses.push(
      await microseconds(async () => {
        for (let done = 0; done < missesPerRound; done += cachedTokens) {
          tokens.forget({ agent_id: reader.id });
          await checkAll(cachedTokens);
        }
      }, missesPerRound),
    );
  }
  const hit_us = median(hits);
  const miss_us = median(misses);
  const miss_per_hit = Math.round(miss_us / hit_us);
  return {
    hit_us,
    miss_us,
    miss_per_hit,
    rounds,
    hits_per_round: hitsPerRound,
    misses_per_round: missesPerRound,
  };
}

async function microseconds(run: () => Promise<void>, times: number): Promise<number> {
  const start = performance.now();
  await run();
  return Math.round(((performance.now() - start) * 1e5) / times) / 100;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Formats the figures as text. */
export function formatTokens(measured: TokensMeasurement): string {
  return [
    `a cached token                     ${measured.hit_us} µs`,
    `a token that must be looked up     ${measured.miss_us} µs`,
    `miss ÷ hit                         ${measured.miss_per_hit}`,
    '',
  ].join('\n');
}
