import { performance } from 'node:perf_hooks';
import { compose, type Core } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { createTokens, resourceAddresses } from '../../src/services/tokens.ts';
import { makeReader, tokenOf } from './population.ts';
import type { Stage } from './stage.ts';

/** Microseconds of one check of an access token, at the median of the rounds. */
export interface TokensMeasured {
  /** What this process has learned. */
  hit_us: number;
  /** What it has to look up, one after the other. */
  miss_us: number;
  miss_per_hit: number;
  rounds: number;
  hits_per_round: number;
  misses_per_round: number;
}

const rounds = 11;
const tokensKnown = 100;
const hits_per_round = 100_000;
const misses_per_round = 1_000;

/** What the check of an access token costs a request; see docs/performance.md. */
export async function measureTokens(stage: Stage, signal: AbortSignal): Promise<TokensMeasured> {
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  try {
    return await measureOn(core, signal);
  } finally {
    await core.close();
  }
}

async function measureOn(core: Core, signal: AbortSignal): Promise<TokensMeasured> {
  const { reader } = await makeReader(core, 'tokens', 0);
  const bearers: string[] = [];
  while (bearers.length < tokensKnown) bearers.push(await tokenOf(core, reader.handle));
  const tokens = createTokens({
    find: (hash) => core.unitOfWork.consult((all) => all.tokens.find(hash)),
    resources: resourceAddresses(core.config.PUBLIC_URL),
  });
  const checkAll = async (times: number) => {
    for (let done = 0; done < times; done += tokensKnown) {
      for (const bearer of bearers) await tokens.verify(bearer, 'api');
    }
  };

  const hits: number[] = [];
  const misses: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    signal.throwIfAborted();
    tokens.forget({ agent_id: reader.id });
    await checkAll(tokensKnown);
    hits.push(await microseconds(() => checkAll(hits_per_round), hits_per_round));
    misses.push(
      await microseconds(async () => {
        for (let done = 0; done < misses_per_round; done += tokensKnown) {
          tokens.forget({ agent_id: reader.id });
          await checkAll(tokensKnown);
        }
      }, misses_per_round),
    );
  }
  const hit_us = median(hits);
  const miss_us = median(misses);
  const miss_per_hit = Math.round(miss_us / hit_us);
  return { hit_us, miss_us, miss_per_hit, rounds, hits_per_round, misses_per_round };
}

async function microseconds(run: () => Promise<void>, times: number): Promise<number> {
  const start = performance.now();
  await run();
  return Math.round(((performance.now() - start) * 1e5) / times) / 100;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The figures for people. */
export function tokensTable(measured: TokensMeasured): string {
  return [
    `a token that the process knows     ${measured.hit_us} µs`,
    `a token that it has to look up     ${measured.miss_us} µs`,
    `miss ÷ hit                         ${measured.miss_per_hit}`,
    '',
  ].join('\n');
}
