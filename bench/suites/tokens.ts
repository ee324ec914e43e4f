import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { createTokens, toResourceUrls } from '../../src/services/auth/tokens.ts';
import { median } from '../load/percentiles.ts';
import { runLoad } from '../load/run-load.ts';
import { createMembers, issueTokenFor } from '../../scripts/parts/population.ts';
import { type Bench, startService } from '../start/service.ts';

const rounds = 11;
const cachedTokens = 100;
const hitsPerRound = 100_000;
const missesPerRound = 1_000;

/** Microseconds of a check of an access token that is cached, and of one that must be looked up; medians of the rounds. */
export async function measureTokens(bench: Bench) {
  const { signal } = bench;
  const { core } = await startService(bench);
  const [reader] = await createMembers(core, 'tokens', 1);
  const bearers: string[] = [];
  while (bearers.length < cachedTokens) bearers.push(await issueTokenFor(core, reader?.handle ?? ''));
  const tokens = createTokens({
    find: (hash) => core.unitOfWork.read(system, (work) => work.db.tokens.find(hash)),
    resources: toResourceUrls(core.config.PUBLIC_URL),
  });
  const forget = () => tokens.forget({ agent_id: reader?.id ?? '' });
  /** Checks all tokens in turn. @returns microseconds for each check */
  const check = async (checks: number, before?: () => void) => {
    const { seconds } = await runLoad({ calls: checks / cachedTokens, signal }, async () => {
      before?.();
      for (const bearer of bearers) await tokens.verify(bearer, 'api');
    });
    return (seconds * 1e6) / checks;
  };
  const hits: number[] = [];
  const misses: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await check(cachedTokens, forget);
    hits.push(await check(hitsPerRound));
    misses.push(await check(missesPerRound, forget));
  }
  const [hit_us, miss_us] = [median(hits), median(misses)];
  return {
    hit_us,
    miss_us,
    miss_per_hit: Math.round(miss_us / hit_us),
    rounds,
    hits_per_round: hitsPerRound,
    misses_per_round: missesPerRound,
  };
}
