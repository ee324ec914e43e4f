import type { Actor } from './domain/actor.ts';
import type { FileAddresses } from './domain/attachments.ts';
import { type Act, type Author, byActor, theService } from './domain/audit.ts';
import type { Courier } from './domain/courier.ts';
import type { Cursors } from './domain/cursors.ts';
import type { FeedEntry, NewEvent } from './domain/events.ts';
import { newId } from './domain/ids.ts';
import type { LoopLimit, UnsentLimit } from './domain/limits.ts';
import { ringsOf } from './domain/rings.ts';
import type { SealedBox } from './domain/sealed-box.ts';
import { type CommitAnswer, type CommitRecord, commitStatement } from './repositories/commit.ts';
import { databaseError } from './repositories/errors.ts';
import type { EventRow } from './repositories/feed.ts';
import { type Repositories, repositoriesOn } from './repositories/index.ts';
import type { MessageRow } from './repositories/messages.ts';
import type { Queryable } from './repositories/queryable.ts';
import { commitRecord, linesOf, logged, type NotedEvent } from './noted-events.ts';
import type { ReplicaReads } from './replica-reads.ts';

/** A message for all processes. */
export interface BusMessage {
  topic: string;
  body: string;
}

/** What a use case without an acting agent is handed: an operator's command, a step of the authorization server. */
export interface Administration extends Repositories {
  /** Milliseconds since the epoch; the same for everything in this transaction. */
  now: number;
  /** For what must not stand in the database as it is. */
  vault: SealedBox;
  /** The way out to addresses that strangers name. Never wait for it in a transaction. */
  courier: Courier;
  /** Notes an act of trust or administration for the audit log, together with who does it: kept with it, or not at all. */
  note(act: Act): void;
}

/** The same with a place to note what happened: for what the service itself finds out, such as deliveries and scans. */
export interface Recording extends Administration {
  /**
   * Notes a fact. It reaches the feeds together with its cause, or not at all. Of an event about a message the message itself, where
   * it is at hand, spares the readers in this process to read it back.
   */
  emit(event: NewEvent, message?: MessageRow | null): void;
  /**
   * Notes what every process should hear once it is committed. It may get lost: what it tells must be found out without it too.
   */
  tell(message: BusMessage): void;
  /** Notes a job that no event sets in motion. It is owed from the commit on, until a worker has done it. */
  owe(job: OwedJob): void;
}

/** What a use case is handed: who acts, the time, the repositories of one transaction, and a place to note what happened. */
export interface Work extends Recording {
  actor: Actor;
  cursors: Cursors;
  addresses: FileAddresses;
  /** How often two agents may answer each other quickly; null when that is not counted. */
  loop: LoopLimit | null;
  /** How many files an agent may hold that it has not sent; null when that is not counted. */
  unsent: UnsentLimit | null;
  /** What had been committed of all that is read, where the database that is read cannot tell (pg_snapshot). */
  snapshot?: string;
}

/** A request that must have its effect once only. */
export interface IdempotencyClaim {
  key_hash: Buffer;
  request_hash: Buffer;
}

export interface OwedJob {
  job: string;
  subject_id: string;
}

/**
 * What a commit changed for others: whose feed grew to which number and by what, which jobs are owed, and what else every process
 * should hear.
 */
export interface CommitNews {
  heads: { agent_id: string; last_number: number }[];
  /** Where the events stand in the feeds, in the order of each. */
  lines: FeedEntry[];
  /** The events as the log holds them; one about a message that was not at hand is left out. */
  events: EventRow[];
  jobs: OwedJob[];
  messages: BusMessage[];
}

interface Transaction extends Queryable {
  commit<Row extends object>(last?: ReturnType<typeof commitStatement>): Promise<Row[]>;
  rollback(): Promise<void>;
}

export interface UnitOfWorkParts {
  database: Queryable & { begin(): Promise<Transaction> };
  /** Absent: everything is read from the database itself. */
  fromReplica?: ReplicaReads | undefined;
  cursors: Cursors;
  addresses: FileAddresses;
  loop: LoopLimit | null;
  unsent: UnsentLimit | null;
  vault: SealedBox;
  courier: Courier;
  /** The jobs that an event sets in motion. */
  jobsOf(event: NewEvent & { id: string }): OwedJob[];
  /** The traceparent of what is going on, where that is traced. */
  trace?(): string | undefined;
  /** Told after each commit that concerns others. Must not throw: the outbox and the feed already hold everything. */
  announce(news: CommitNews): void;
}

const jobGrace = 10_000;

/** Opens units of work: reads on the pool, writes in one transaction each. */
export function createUnitOfWork(parts: UnitOfWorkParts) {
  const pool = repositoriesOn(parts.database);
  const { cursors, addresses, loop, unsent, vault, courier } = parts;

  /** One transaction, committed together with what was noted in it; announced when it concerns others. */
  async function recorded<T>(
    run: (work: Recording) => Promise<T>,
    keyOf: (result: T) => CommitRecord['idempotency'],
    author: Author,
    actorId: string | null = null,
  ): Promise<T> {
    const transaction = await parts.database.begin().catch((error: unknown) => {
      throw databaseError(error);
    });
    const events: NotedEvent[] = [];
    const messages: BusMessage[] = [];
    const owed: OwedJob[] = [];
    const acts: Act[] = [];
    const now = Date.now();
    try {
      const repositories = repositoriesOn(transaction);
      const result = await run({
        ...repositories,
        now,
        vault,
        courier,
        note: (act) => void acts.push(act),
        emit: (event, message = null) => void events.push({ ...event, id: newId('event'), message }),
        tell: (message) => void messages.push(message),
        owe: (job) => void owed.push(job),
      });
      if (acts.length > 0) await repositories.auditLog.insert(acts, author, now);
      const jobs = [...events.flatMap((event) => parts.jobsOf(event)), ...owed];
      const idempotency = keyOf(result);
      const traceparent = parts.trace?.();
      const record = {
        ...commitRecord(events, now, actorId),
        jobs,
        job_grace: jobGrace,
        idempotency,
        traceparent,
      };
      const empty = events.length === 0 && jobs.length === 0 && !idempotency && record.touched === null;
      const [answer] = await transaction.commit<CommitAnswer>(empty ? undefined : commitStatement(record));
      const heads = ringsOf(answer?.heads ?? {});
      if (heads.length > 0 || jobs.length > 0 || messages.length > 0) {
        const lines = linesOf(record.entries, heads);
        parts.announce({ heads, lines, events: logged(events, now, traceparent), jobs, messages });
      }
      return result;
    } catch (error) {
      await transaction.rollback();
      throw databaseError(error);
    }
  }

  return {
    /**
     * Runs without a transaction; every statement stands alone. With `replica` it is done in one snapshot of a replica where that shows
     * all that the actor has done and been told of; it may then run once more on the database itself.
     */
    async read<T>(actor: Actor, run: (work: Work) => Promise<T>, replica = false): Promise<T> {
      const refuse = () => {
        throw new Error('a read changes nothing and has nothing to tell');
      };
      const mute = { emit: refuse, tell: refuse, owe: refuse, note: refuse };
      const tools = { cursors, addresses, loop, unsent, vault, courier, ...mute };
      const away = replica ? parts.fromReplica : undefined;
      const served = await away?.(actor.agent_id, (repositories, snapshot) =>
        run({ ...repositories, actor, now: Date.now(), ...tools, snapshot }),
      );
      if (served) return served.result;
      try {
        return await run({ ...pool, actor, now: Date.now(), ...tools });
      } catch (error) {
        throw databaseError(error);
      }
    },

    /**
     * Runs in one transaction and commits it together with the events, the jobs they cause and, under a claim, the body
     * that `run` answers, or what it is kept as. Nothing of it stays when anything fails.
     */
    write<T extends { body: string; kept_as?: string }>(
      actor: Actor,
      claim: IdempotencyClaim | null,
      run: (work: Work) => Promise<T>,
    ): Promise<T> {
      return recorded(
        (work) => run({ ...work, actor, cursors, addresses, loop, unsent }),
        (answer) => claim && { ...claim, answer: answer.kept_as ?? answer.body },
        byActor(actor),
        actor.agent_id,
      );
    },

    /** As `write`, on nobody's behalf: for what no agent asked for, and agents are to hear of. */
    record<T>(run: (work: Recording) => Promise<T>, author: Author = theService): Promise<T> {
      return recorded(run, () => null, author);
    },

    /** As `read`, on nobody's behalf: the token check, the authorization server, operators. */
    async consult<T>(run: (repositories: Repositories) => Promise<T>): Promise<T> {
      try {
        return await run(pool);
      } catch (error) {
        throw databaseError(error);
      }
    },

    /**
     * Runs in one transaction on behalf of nobody that the use case would have to know; `author` stands in the audit log. It can emit
     * no events; nothing of it stays when anything fails.
     */
    async administer<T>(run: (work: Administration) => Promise<T>, author: Author = theService): Promise<T> {
      const transaction = await parts.database.begin().catch((error: unknown) => {
        throw databaseError(error);
      });
      try {
        const acts: Act[] = [];
        const repositories = repositoriesOn(transaction);
        const now = Date.now();
        const note = (act: Act) => void acts.push(act);
        const result = await run({ ...repositories, now, vault, courier, note });
        if (acts.length > 0) await repositories.auditLog.insert(acts, author, now);
        await transaction.commit();
        return result;
      } catch (error) {
        await transaction.rollback();
        throw databaseError(error);
      }
    },

    /** What `kept_as` is sealed with. */
    vault,

    /** The stored answer of a claim, if its effect is committed. */
    async answerOf(claim: IdempotencyClaim) {
      try {
        return await pool.idempotencyKeys.find(claim.key_hash);
      } catch (error) {
        throw databaseError(error);
      }
    },
  };
}

export type UnitOfWork = ReturnType<typeof createUnitOfWork>;
