import type { Actor } from '../domain/auth/actor.ts';
import type { FileAddresses } from '../domain/attachments/attachments.ts';
import { type AuditEntry, type Author, authorFromActor, serviceAuthor } from '../domain/auth/audit.ts';
import type { WebhookSender } from '../domain/outbound.ts';
import type { Cursors } from '../domain/feed/cursors.ts';
import type { DomainError } from '../domain/errors.ts';
import type { NewEvent } from '../domain/feed/events.ts';
import type { LoopLimit, UnsentLimit } from '../domain/limits.ts';
import type { SealedBox } from '../shared/encryption.ts';
import {
  type BusMessage,
  type CommitResult,
  toCommitResult,
  type ChangeSet,
  openChangeSet,
  type OutboxJob,
  toCommitRecord,
} from './change-set.ts';
import { type CommitAnswer, type CommitRecord, commitStatement } from './commit.ts';
import { databaseError } from '../repositories/errors.ts';
import { type Repositories, createRepositories } from '../repositories/index.ts';
import type { MessageRow } from '../repositories/messages/messages.ts';
import type { Queryable } from '../repositories/queryable.ts';
import type { ReplicaReads } from './replica-reads.ts';

export type { BusMessage, CommitResult as CommitNews } from './change-set.ts';

/** What a use case without an acting agent is handed: an operator's command, a step of the authorization server. */
export interface SystemWork extends Repositories {
  /** Milliseconds since the epoch; the same for everything in this transaction. */
  now: number;
  /** For what must not stand in the database as it is. */
  sealedBox: SealedBox;
  /** The way out to addresses that strangers name. Never wait for it in a transaction. */
  webhookSender: WebhookSender;
  /** How many agents an owner may have; null when that is not counted. */
  maxAgents: number | null;
  /** Notes an act of trust or administration for the audit log, together with who does it: kept with it, or not at all. */
  audit(act: AuditEntry): void;
}

/** The same with a place to note what happened: for what the service itself finds out, such as deliveries and scans. */
export interface SystemWorkWithEvents extends SystemWork {
  /**
   * Notes a fact. It reaches the feeds together with its cause, or not at all. Of an event about a message the message itself, where
   * it is at hand, spares the readers in this process to read it back.
   */
  emit(event: NewEvent, message?: MessageRow | null): void;
  /**
   * Notes what every process should hear once it is committed. It may get lost: what it tells must be found out without it too.
   */
  publish(message: BusMessage): void;
  /** Notes a job that no event sets in motion. It is owed from the commit on, until a worker has done it. */
  enqueue(job: OutboxJob): void;
  /** A statement that need not be waited for: it travels with the commit, and fails together with it. */
  defer(underWay: Promise<unknown>): void;
}

/** What a use case is handed: who acts, the time, the repositories of one transaction, and a place to note what happened. */
export interface Work extends SystemWorkWithEvents {
  actor: Actor;
  cursors: Cursors;
  addresses: FileAddresses;
  /** How often two agents may answer each other quickly; null when that is not counted. */
  loopLimit: LoopLimit | null;
  /** How many files an agent may hold that it has not sent; null when that is not counted. */
  unsentLimit: UnsentLimit | null;
  /** What had been committed of all that is read, where the database that is read cannot tell (pg_snapshot). */
  snapshot?: string;
}

/** A request that must have its effect once only. */
export interface IdempotencyClaim {
  key_hash: Buffer;
  request_hash: Buffer;
}

/** A body that is answered, or what it is kept as. */
interface IdempotentAnswer {
  body: string;
  kept_as?: string;
}

/** One of several writes in one transaction. */
export interface BatchedWrite {
  actor: Actor;
  claim: IdempotencyClaim | null;
  /** The traceparent of what it is a part of, where that is traced. */
  trace: string | undefined;
}

/** What becomes of one of several writes: done, refused, or null when it cannot be done in company. */
export type BatchResult<T> = T | DomainError | null;

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
  loopLimit: LoopLimit | null;
  unsentLimit: UnsentLimit | null;
  sealedBox: SealedBox;
  webhookSender: WebhookSender;
  maxAgents: number | null;
  /** The jobs that an event sets in motion. */
  jobsOf(event: NewEvent & { id: string }): OutboxJob[];
  /** The traceparent of what is going on, where that is traced. */
  trace?(): string | undefined;
  /** Told after each commit that concerns others. Must not throw: the outbox and the feed already hold everything. */
  publish(news: CommitResult): void;
}

/** Opens units of work: reads on the pool, writes in one transaction each. */
export function createUnitOfWork(parts: UnitOfWorkParts) {
  const pool = createRepositories(parts.database);
  const { sealedBox, webhookSender, maxAgents } = parts;
  const given = { sealedBox, webhookSender, maxAgents };
  const tools = {
    cursors: parts.cursors,
    addresses: parts.addresses,
    loopLimit: parts.loopLimit,
    unsentLimit: parts.unsentLimit,
  };

  /** One transaction, committed together with what was noted in it; announced when it concerns others. */
  async function recorded<T>(
    books: readonly ChangeSet[],
    run: (base: Repositories & Pick<SystemWorkWithEvents, 'now' | keyof typeof given>) => Promise<T>,
    keysOf: (result: T) => CommitRecord['keys'],
  ): Promise<T> {
    const transaction = await parts.database.begin().catch((error: unknown) => {
      throw databaseError(error);
    });
    const now = Date.now();
    try {
      const repositories = createRepositories(transaction);
      const result = await run({ ...repositories, now, ...given });
      for (const { auditEntries, author } of books) {
        if (auditEntries.length > 0) await repositories.auditLog.insert(auditEntries, author, now);
      }
      const record = toCommitRecord(books, now, parts.jobsOf, keysOf(result));
      const { events, jobs, keys, touched } = record;
      const empty = events.length + jobs.length + keys.length + touched.length === 0;
      const last = empty ? undefined : commitStatement(record);
      const underWay = books.flatMap((book) => book.pendingStatements);
      const [committed, ...left] = await Promise.allSettled([
        transaction.commit<CommitAnswer>(last),
        ...underWay,
      ]);
      // What went wrong first is the cause; that nothing could be committed only follows.
      for (const end of left) if (end.status === 'rejected') throw end.reason;
      if (committed.status === 'rejected') throw committed.reason;
      const [answer] = committed.value;
      const heads = last?.readCounters(answer) ?? [];
      const news = toCommitResult(books, record, heads);
      if (news) parts.publish(news);
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
      const mute = { emit: refuse, publish: refuse, enqueue: refuse, audit: refuse, defer: refuse };
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
    write<T extends IdempotentAnswer>(
      actor: Actor,
      claim: IdempotencyClaim | null,
      run: (work: Work) => Promise<T>,
    ): Promise<T> {
      const book = openChangeSet(authorFromActor(actor), parts.trace?.(), actor.agent_id);
      return recorded(
        [book],
        (base) => run({ ...base, ...book.recorder, actor, ...tools }),
        (answer) => toIdempotencyKeys(claim, answer),
      );
    },

    /**
     * Runs several writes, of several actors, in one transaction, each with notes of its own. `run` answers each of them in their
     * order; those that it refuses, and those that it answers null, must have left nothing behind. When anything fails, nothing of any
     * of them stays. What is done must tell its actor by an event: a replica shows by the actor's head whether it has replayed it.
     */
    async writeBatch<Call extends BatchedWrite, T extends IdempotentAnswer>(
      calls: readonly Call[],
      run: (shared: readonly { call: Call; work: Work }[]) => Promise<readonly BatchResult<T>[]>,
    ): Promise<readonly BatchResult<T>[]> {
      const shared = calls.map((call) => ({
        call,
        book: openChangeSet(authorFromActor(call.actor), call.trace),
      }));
      return recorded(
        shared.map(({ book }) => book),
        (base) =>
          run(
            shared.map(({ call, book }) => {
              return { call, work: { ...base, ...book.recorder, ...tools, actor: call.actor } };
            }),
          ),
        (answers) =>
          shared.flatMap(({ call }, at) => {
            const answer = answers[at] ?? null;
            return answer === null || answer instanceof Error ? [] : toIdempotencyKeys(call.claim, answer);
          }),
      );
    },

    /** As `write`, on nobody's behalf: for what no agent asked for, and agents are to hear of. */
    writeAsSystemWithEvents<T>(
      run: (work: SystemWorkWithEvents) => Promise<T>,
      author: Author = serviceAuthor,
    ): Promise<T> {
      const book = openChangeSet(author, parts.trace?.());
      return recorded(
        [book],
        (base) => run({ ...base, ...book.recorder }),
        () => [],
      );
    },

    /** As `read`, on nobody's behalf: the token check, the authorization server, operators. */
    async readAsSystem<T>(run: (repositories: Repositories) => Promise<T>): Promise<T> {
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
    async writeAsSystem<T>(
      run: (work: SystemWork) => Promise<T>,
      author: Author = serviceAuthor,
    ): Promise<T> {
      const transaction = await parts.database.begin().catch((error: unknown) => {
        throw databaseError(error);
      });
      try {
        const acts: AuditEntry[] = [];
        const repositories = createRepositories(transaction);
        const now = Date.now();
        const audit = (act: AuditEntry) => void acts.push(act);
        const result = await run({ ...repositories, now, ...given, audit });
        if (acts.length > 0) await repositories.auditLog.insert(acts, author, now);
        await transaction.commit();
        return result;
      } catch (error) {
        await transaction.rollback();
        throw databaseError(error);
      }
    },

    /** What `kept_as` is sealed with. */
    sealedBox: sealedBox,

    /** The traceparent of what is going on, where that is traced. */
    currentTrace: () => parts.trace?.(),

    /** The stored answer of a claim, if its effect is committed. */
    async findAnswer(claim: IdempotencyClaim) {
      try {
        return await pool.idempotencyKeys.find(claim.key_hash);
      } catch (error) {
        throw databaseError(error);
      }
    },
  };
}

export type UnitOfWork = ReturnType<typeof createUnitOfWork>;

function toIdempotencyKeys(claim: IdempotencyClaim | null, answer: IdempotentAnswer): CommitRecord['keys'] {
  return claim ? [{ ...claim, answer: answer.kept_as ?? answer.body }] : [];
}
