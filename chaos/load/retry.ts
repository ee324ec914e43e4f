import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Attempt } from '../history.ts';
import type { Random } from '../random.ts';
import type { ActionResult } from './actions.ts';

const retryDelayMs = 50;
/** Share of actions that are sent several times at once, as by a client that retries before its timeout. */
const concurrentChance = 0.15;
/** Share of acknowledged actions that are repeated, as by a client that lost the response. */
const repeatChance = 0.1;

/** What the attempts of all actions add to the record. */
export interface Outcomes {
  /** Descriptions of the refusals. */
  complaints: string[];
  /** Attempts with an unknown outcome, by reason. */
  uncertainOutcomes: Map<string, number>;
}

type Once<Answer> = () => Promise<ActionResult<Answer>>;

export interface Retry {
  /** Counts a request whose outcome is unknown and that is not repeated. */
  countDoubt(reason: string): void;
  /** Retries until the outcome is known. Returns whether the action was acknowledged. */
  once<Answer>(attempt: Attempt<Answer>, run: Once<Answer>): Promise<boolean>;
  /** The same for an action with a key: some are sent several times at once, and some again after the acknowledgement. */
  withKey<Answer>(attempt: Attempt<Answer>, run: Once<Answer>): Promise<boolean>;
}

export function createRetry(
  { complaints, uncertainOutcomes }: Outcomes,
  random: Random,
  abandoned: AbortSignal,
): Retry {
  function countDoubt(reason: string): void {
    uncertainOutcomes.set(reason, (uncertainOutcomes.get(reason) ?? 0) + 1);
  }

  async function once<Answer>(attempt: Attempt<Answer>, run: Once<Answer>): Promise<boolean> {
    while (!abandoned.aborted) {
      attempt.attempts += 1;
      const outcome = await run();
      if (abandoned.aborted && !('answer' in outcome)) return false; // the client itself ended the request
      if ('answer' in outcome) {
        attempt.acknowledged_at ??= Date.now();
        attempt.answers.push(outcome.answer);
        return true;
      }
      if ('refused' in outcome) {
        complaints.push(`${attempt.agent_id}, key ${attempt.key}: ${outcome.refused}`);
        return false;
      }
      countDoubt(outcome.doubt);
      await pause(retryDelayMs);
    }
    return false;
  }

  return {
    countDoubt,
    once,
    async withKey(attempt, run) {
      const copies = random.chance(concurrentChance) ? 2 + random.below(2) : 1;
      const acknowledged = await Promise.all(Array.from({ length: copies }, () => once(attempt, run)));
      if (acknowledged.includes(false)) return false;
      return random.chance(repeatChance) ? once(attempt, run) : true;
    },
  };
}

/** An attempt that begins now, with a new key. */
export function newAttempt<Answer>(agent: { id: string }): Attempt<Answer> {
  return {
    key: randomUUID(),
    agent_id: agent.id,
    begun_at: Date.now(),
    acknowledged_at: null,
    attempts: 0,
    answers: [],
  };
}
