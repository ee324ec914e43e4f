import type { Actor } from './domain/actor.ts';
import type { FileAddresses } from './domain/attachments.ts';
import { type Act, type Author, byActor, theService } from './domain/audit.ts';
import type { Courier } from './domain/courier.ts';
import type { Cursors } from './domain/cursors.ts';
import type { DomainError } from './domain/errors.ts';
import type { NewEvent } from './domain/events.ts';
import type { LoopLimit, UnsentLimit } from './domain/limits.ts';
import type { SealedBox } from './domain/sealed-box.ts';
import {
  type BusMessage,
  type CommitNews,
  newsOf,
  type Notebook,
  openNotebook,
  type OwedJob,
  recordOf,
} from './notebook.ts';
import { type CommitAnswer, type CommitRecord, commitStatement } from './repositories/commit.ts';
import { databaseError } from './repositories/errors.ts';
import { type Repositories, repositoriesOn } from './repositories/index.ts';
import type { MessageRow } from './repositories/messages.ts';
import type { Queryable } from './repositories/queryable.ts';
import type { ReplicaReads } from './replica-reads.ts';

export type { BusMessage, CommitNews } from './notebook.ts';

/** What a use case without an acting agent is handed: an operator's command, a step of the authorization server. */
export interface Administration extends Repositories {
  /** Milliseconds since the epoch; the same for everything in this transaction. */
  now: number;
  /** For what must not stand in the database as it is. */
  vault: SealedBox;
  /** The way out to addresses that strangers name. Never wait for it in a transaction. */
  courier: Courier;
  /** How many agents an owner may have; null when that is not counted. */
  most_agents: number | null;
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
  /** A statement that need not be waited for: it travels with the commit, and fails together with it. */
  leave(underWay: Promise<unknown>): void;
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

/** A body that is answered, or what it is kept as. */
interface KeptAnswer {
  body: string;
  kept_as?: string;
}

/** One of several writes in one transaction. */
export interface SharedWrite {
  actor: Actor;
  claim: IdempotencyClaim | null;
  /** The traceparent of what it is a part of, where that is traced. */
  trace: string | undefined;
}

/** What becomes of one of several writes: done, refused, or null when it cannot be done in company. */
export type Shared<T> = T | DomainError | null;

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
  most_agents: number | null;
  /** The jobs that an event sets in motion. */
  jobsOf(event: NewEvent & { id: string }): OwedJob[];
  /** The traceparent of what is going on, where that is traced. */
  trace?(): string | undefined;
  /** Told after each commit that concerns others. Must not throw: the outbox and the feed already hold everything. */
  announce(news: CommitNews): void;
}

/** Opens units of work: reads on the pool, writes in one transaction each. */
export function createUnitOfWork(parts: UnitOfWorkParts) {
  const pool = repositoriesOn(parts.database);
  const { vault, courier, most_agents } = parts;
  const given = { vault, courier, most_agents };
  const tools = {
    cursors: parts.cursors,
    addresses: parts.addresses,
    loop: parts.loop,
    unsent: parts.unsent,
  };

  /** One transaction, committed together with what was noted in it; announced when it concerns others. */
  async function recorded<T>(
    books: readonly Notebook[],
    run: (base: Repositories & Pick<Recording, 'now' | keyof typeof given>) => Promise<T>,
    keysOf: (result: T) => CommitRecord['keys'],
  ): Promise<T> {
    const transaction = await parts.database.begin().catch((error: unknown) => {
      throw databaseError(error);
    });
    const now = Date.now();
    try {
      const repositories = repositoriesOn(transaction);
      const result = await run({ ...repositories, now, ...given });
      for (const { acts, author } of books) {
        if (acts.length > 0) await repositories.auditLog.insert(acts, author, now);
      }
      const record = recordOf(books, now, parts.jobsOf, keysOf(result));
      const { events, jobs, keys, touched } = record;
      const empty = events.length + jobs.length + keys.length + touched.length === 0;
      const last = empty ? undefined : commitStatement(record);
      const underWay = books.flatMap((book) => book.underWay);
      const [committed, ...left] = await Promise.allSettled([
        transaction.commit<CommitAnswer>(last),
        ...underWay,
      ]);
      // What went wrong first is the cause; that nothing could be committed only follows.
      for (const end of left) if (end.status === 'rejected') throw end.reason;
      if (committed.status === 'rejected') throw committed.reason;
      const [answer] = committed.value;
      const heads = last?.headsOf(answer) ?? [];
      const news = newsOf(books, record, heads);
      if (news) parts.announce(news);
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
      const mute = { emit: refuse, tell: refuse, owe: refuse, note: refuse, leave: refuse };
      const silent = { ...tools, ...given, ...mute };
      const away = replica ? parts.fromReplica : undefined;
      const served = await away?.(actor.agent_id, (repositories, snapshot) =>
        run({ ...repositories, actor, now: Date.now(), ...silent, snapshot }),
      );
      if (served) return served.result;
      try {
        return await run({ ...pool, actor, now: Date.now(), ...silent });
      } catch (error) {
        throw databaseError(error);
      }
    },

    /**
     * Runs in one transaction and commits it together with the events, the jobs they cause and, under a claim, the body
     * that `run` answers, or what it is kept as. Nothing of it stays when anything fails.
     */
    write<T extends KeptAnswer>(
      actor: Actor,
      claim: IdempotencyClaim | null,
      run: (work: Work) => Promise<T>,
    ): Promise<T> {
      const book = openNotebook(byActor(actor), parts.trace?.(), actor.agent_id);
      return recorded(
        [book],
        (base) => run({ ...base, ...book.pens, actor, ...tools }),
        (answer) => keptUnder(claim, answer),
      );
    },

    /**
     * Runs several writes, of several actors, in one transaction, each with notes of its own. `run` answers each of them in their
     * order; those that it refuses, and those that it answers null, must have left nothing behind. When anything fails, nothing of any
     * of them stays. What is done must tell its actor by an event: a replica shows by the actor's head whether it has replayed it.
     */
    async writeTogether<Call extends SharedWrite, T extends KeptAnswer>(
      calls: readonly Call[],
      run: (shared: readonly { call: Call; work: Work }[]) => Promise<readonly Shared<T>[]>,
    ): Promise<readonly Shared<T>[]> {
      const shared = calls.map((call) => ({ call, book: openNotebook(byActor(call.actor), call.trace) }));
      return recorded(
        shared.map(({ book }) => book),
        (base) =>
          run(
            shared.map(({ call, book }) => {
              return { call, work: { ...base, ...book.pens, ...tools, actor: call.actor } };
            }),
          ),
        (answers) =>
          shared.flatMap(({ call }, at) => {
            const answer = answers[at] ?? null;
            return answer === null || answer instanceof Error ? [] : keptUnder(call.claim, answer);
          }),
      );
    },

    /** As `write`, on nobody's behalf: for what no agent asked for, and agents are to hear of. */
    record<T>(run: (work: Recording) => Promise<T>, author: Author = theService): Promise<T> {
      const book = openNotebook(author, parts.trace?.());
      return recorded(
        [book],
        (base) => run({ ...base, ...book.pens }),
        () => [],
      );
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
        const result = await run({ ...repositories, now, ...given, note });
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

    /** The traceparent of what is going on, where that is traced. */
    trace: () => parts.trace?.(),

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

function keptUnder(claim: IdempotencyClaim | null, answer: KeptAnswer): CommitRecord['keys'] {
  return claim ? [{ ...claim, answer: answer.kept_as ?? answer.body }] : [];
}
