import type { Actor } from '../../packages/core/src/domain/auth/actor.ts';
import type { ApprovalAction } from '../../packages/core/src/domain/approvals.ts';
import type { FileAddresses } from '../../packages/core/src/domain/attachments/attachments.ts';
import { type Author, authorFromActor } from '../../packages/core/src/domain/auth/audit.ts';
import type { DomainError } from '../../packages/core/src/domain/errors.ts';
import type { Cursors } from './cursors.ts';
import type { Budget, Limit } from '../../packages/core/src/domain/limits.ts';
import type { WebhookSender } from '../../packages/core/src/domain/outbound.ts';
import { createRepositories, type Repositories } from '../repositories/index.ts';
import type { SealedBox } from '../shared/encryption.ts';
import { ChangeSet, type Recorder } from './change-set.ts';
import type { CommitRecord } from './commit.ts';
import type { ReplicaReads } from './replica-reads.ts';
import type { SendContext } from './send-context.ts';
import { createTransact, type TransactionParts, withDomainErrors } from './transaction.ts';

/** What every unit of work in this process shares. */
export interface WorkSettings {
  cursors: Cursors;
  addresses: FileAddresses;
  /** Null: unlimited. `loop`: how often two agents may answer each other quickly; `unsent_uploads`: files that an agent keeps without sending. */
  limits: Readonly<Record<Budget | 'loop' | 'unsent_uploads', Limit>> | null;
  /** The accepted media types of files; null accepts all. */
  attachmentTypes: readonly string[] | null;
  sendContext: SendContext;
  /** The address that clients use, without a slash at its end. */
  publicUrl: string;
  /** How long a call of A2A that sends a message waits for an answer. */
  a2aWaitSeconds: number;
  /** An open task without a change ends after so many days, and an ended one is removed. */
  taskDays: number;
  /** Encrypts what the database must not hold in plain text. */
  sealedBox: SealedBox;
  /** Agents of other systems: why the address of a card is refused, and whether a person confirms each. Null: there are none. */
  remote: { checkUrl(url: string): string | undefined; needsPerson: boolean } | null;
  /** Sends to addresses that users choose. Never await it in a transaction. */
  webhookSender: WebhookSender;
  /** How many agents an owner may have; null: unlimited. */
  maxAgents: number | null;
  /** Runs the call that a person approved, as the agent of `work`; returns its answer as JSON text. Throws what the call throws. */
  runApproved(work: Work, call: ApprovedCall): Promise<string>;
}

/** The call that an approval allows. */
export interface ApprovedCall {
  action: ApprovalAction;
  /** Handle of the agent that it concerns. */
  target: string;
  /** The message to that agent; can be empty. */
  message: string;
  /** The input of a reviewed call, as its operation parsed it; absent for another call. */
  input: object | undefined;
  /** The texts of the input after an edit. */
  texts: readonly string[] | undefined;
}

/** What a use case gets that only reads, without an acting agent: the token check, an operator's command, a page. */
export interface ReadWork {
  db: Repositories;
  settings: WorkSettings;
  /** Milliseconds since the epoch; the same for the whole unit of work. */
  now: number;
}

/** What a use case without an acting agent gets: an operator's command, the authorization server, a job. */
export interface SystemWork extends ReadWork {
  changes: Recorder;
}

/** What a use case of an agent gets. In a read, every change throws. */
export interface Work extends SystemWork {
  actor: Actor;
  /** On a replica: which transactions were committed when the read began (pg_snapshot), because the replica cannot tell. */
  snapshot?: string;
}

/** A request whose effect must happen only once. */
export interface IdempotencyClaim {
  key_hash: Buffer;
  request_hash: Buffer;
}

/** The response body, or the text to store in its place. */
interface IdempotentAnswer {
  body: string;
  kept_as?: string | undefined;
}

/** One of several writes in one transaction. */
export interface BatchedWrite {
  actor: Actor;
  claim: IdempotencyClaim | null;
  /** The traceparent of the request, if it is traced. */
  trace: string | undefined;
}

/** The outcome of one of several writes: its answer, its error, or null if it cannot be batched. */
export type BatchResult<T> = T | DomainError | null;

export interface UnitOfWorkParts extends TransactionParts {
  settings: WorkSettings;
  /** Without it, every read uses the primary database. */
  fromReplica?: ReplicaReads | undefined;
  /** The traceparent of the current request, if it is traced. */
  trace?(): string | undefined;
}

/** Who opens a unit of work: an agent, whose use case gets `actor`, or the author that the audit log names. */
type By = Actor | Author;
type WorkOf<Opener extends By, Other> = Opener extends Actor ? Work : Other;

/**
 * Opens units of work, in one of three ways: a read on the pool, a write in one transaction, several writes in one transaction. Database
 * errors become domain errors.
 */
export function createUnitOfWork(parts: UnitOfWorkParts) {
  const { settings, database, now: readClock, fromReplica } = parts;
  const transact = createTransact(parts);
  const pool = createRepositories(database);

  return {
    settings,

    /**
     * Runs without a transaction: each statement sees its own snapshot. With `replica`, `run` runs in one snapshot of a replica if that has
     * replayed everything the actor did and received. It can then run a second time, on the primary.
     */
    async read<Opener extends By, T>(
      by: Opener,
      run: (work: WorkOf<Opener, ReadWork>) => Promise<T>,
      replica = false,
    ): Promise<T> {
      const open = (db: Repositories, snapshot?: string): Promise<T> => {
        const work: ReadWork = { db, settings, now: readClock() };
        return run(openFor(by, { ...work, changes: readOnly, ...(snapshot !== undefined && { snapshot }) }));
      };
      const served = replica && isActor(by) ? await fromReplica?.(by.agent_id, open) : null;
      return served ? served.result : withDomainErrors(() => open(pool));
    },

    /** Runs in one transaction. With a claim, the result must be an answer, which is stored in the same commit. */
    write<Opener extends By, T>(
      by: Opener,
      run: (work: WorkOf<Opener, SystemWork>) => Promise<T>,
      claim: IdempotencyClaim | null = null,
    ): Promise<T> {
      const changes = new ChangeSet(isActor(by) ? authorFromActor(by) : by, parts.trace?.());
      return transact({
        changeSets: [changes],
        touched: isActor(by) ? [by.agent_id] : [],
        run: (db, now) => run(openFor(by, { db, settings, changes, now })),
        keysOf: (answer) => (claim ? [toIdempotencyKey(claim, answer as IdempotentAnswer)] : []),
      });
    },

    /**
     * Runs several writes of several actors in one transaction; each has its own change set. `run` returns an outcome for each, in order.
     * A write with an error or null must have changed nothing. A write that succeeds must emit an event to its actor: a replica sees
     * by the actor's feed whether it has replayed the write. If anything fails, nothing of any write stays.
     */
    writeBatch<Call extends BatchedWrite, T extends IdempotentAnswer>(
      calls: readonly Call[],
      run: (batch: readonly { call: Call; work: Work }[]) => Promise<readonly BatchResult<T>[]>,
    ): Promise<readonly BatchResult<T>[]> {
      const batch = calls.map((call) => {
        return { call, changes: new ChangeSet(authorFromActor(call.actor), call.trace) };
      });
      return transact({
        changeSets: batch.map(({ changes }) => changes),
        run: (db, now) =>
          run(
            batch.map(({ call, changes }) => {
              return { call, work: { db, settings, changes, now, actor: call.actor } };
            }),
          ),
        keysOf: (answers) =>
          calls.flatMap(({ claim }, at) => {
            const answer = answers[at] ?? null;
            return claim === null || answer === null || answer instanceof Error
              ? []
              : [toIdempotencyKey(claim, answer)];
          }),
      });
    },

    /** The traceparent of the current request, if it is traced. */
    currentTrace: () => parts.trace?.(),
  };
}

export type UnitOfWork = ReturnType<typeof createUnitOfWork>;

function isActor(by: By): by is Actor {
  return 'agent_id' in by;
}

/** Adds the actor, if it is one. The type follows from that of `by`, which TypeScript cannot see. */
function openFor<Opener extends By, Opened extends ReadWork>(by: Opener, work: Opened) {
  return (isActor(by) ? { ...work, actor: by } : work) as unknown as WorkOf<Opener, Opened>;
}

const refuseChange = () => {
  throw new Error('a read must not change anything');
};
const readOnly: Recorder = {
  audit: refuseChange,
  emit: refuseChange,
  publish: refuseChange,
  publishLocally: refuseChange,
  enqueue: refuseChange,
  defer: refuseChange,
  storeAnswer: refuseChange,
  expectRelations: refuseChange,
  afterCommit: refuseChange,
};

function toIdempotencyKey(claim: IdempotencyClaim, answer: IdempotentAnswer): CommitRecord['keys'][number] {
  return { ...claim, answer: answer.kept_as ?? answer.body };
}
