import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { Readable } from 'node:stream';
import type { Core } from '../../compose.ts';
import type { Config } from '../../config.ts';
import { maxAttachmentBytes } from '../../../packages/core/src/domain/attachments/attachments.ts';
import { minIdAt, timeOfId } from '../../../packages/core/src/domain/ids.ts';
import { coveredUntil } from '../../../packages/core/src/domain/partitions.ts';
import { openIdClientOf } from '../../start/connections.ts';
import { findOtherInstances, describeSharedQueues } from '../../start/instance-guard.ts';
import { pendingMigrations, requireEncoding } from '../../platform/database/migrations.ts';
import { discover } from '../../platform/outbound/openid.ts';
import { checkStoreOwner, ForeignStore } from '../../start/store-owner.ts';
import { UnusableFolder } from '../../platform/blobs/draft-folder.ts';
import { createClamdScanner, pingClamd } from '../../platform/scanning/clamd.ts';
import type { ScannedFile } from '../../platform/scanning/scanner.ts';
import { checkSecretKey } from '../../services/auth/signing-keys.ts';
import { readFeedEpoch } from '../../services/feed-epoch.ts';
import { checkClocks, checkReplicas, checkDatabaseLimits } from './database-checks.ts';
import { waitForBus } from '../core.ts';
import { checkClientDocuments } from './client-document-check.ts';
import { checkRemoteAgents } from './remote-check.ts';
import { findRunningWorkers } from './worker-roles.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Running workers begin a job sooner, and the sweep runs more often. */
const maxWaitMs = 60_000;

/** An event is kept one day longer than its feed entries, and is removed within the next day. */
const removalDelayDays = 2;

/** The scanner must accept a file of the maximum attachment size. */
const maxSizeFile: ScannedFile = {
  size_bytes: maxAttachmentBytes,
  sha256: '',
  read: () => Promise.resolve(Readable.from([Buffer.alloc(maxAttachmentBytes)])),
};

/** A check of `ams doctor`: of the parts inside, or of another target. */
export interface Check<Target = Core> {
  part: string;
  /** Returns what it found. @throws the problem */
  run(target: Target): Promise<string>;
  /** What to do if the check fails. */
  advice: string | ((target: Target, reason: unknown) => string);
  /** The parts without which its result says nothing of its own. */
  needs?: readonly string[] | ((target: Target) => readonly string[]);
}

/** Without Redis, queues and bus are in the database. */
const needsOfQueues = ({ config }: Core) => (config.REDIS_URL === undefined ? ['writes'] : []);

/** The checks, each after those that it needs. */
export const checks: readonly Check[] = [
  {
    part: 'database',
    async run({ database }) {
      const text = `select current_setting('server_version') as version, current_setting('server_encoding') as encoding`;
      const [row] = await database.query<{ version: string; encoding: string }>({ text }, []);
      requireEncoding(row?.encoding);
      return `PostgreSQL ${row?.version}`;
    },
    advice:
      'start PostgreSQL, raise its max_connections, or correct DATABASE_URL; then run the command again',
  },
  {
    part: 'writes',
    needs: ['database'],
    async run({ database }) {
      const [setting] = await database.query<{ transaction_read_only: string }>(
        { text: 'show transaction_read_only' },
        [],
      );
      if (setting?.transaction_read_only === 'off') return 'accepted';
      throw new Error('the database is read-only');
    },
    advice: 'connect to the primary (a standby is read-only), or unset default_transaction_read_only',
  },
  {
    part: 'schema',
    needs: ['writes'],
    async run({ database }) {
      const pending = await pendingMigrations(database);
      if (pending.length === 0) return 'up to date';
      throw new Error(`pending migrations: ${pending.join(', ')}`);
    },
    advice: 'run: ams migrate; the role of DATABASE_URL must own the database',
  },
  {
    part: 'secret',
    needs: ['schema'],
    async run({ db, config }) {
      await checkSecretKey(db, config.SECRETS);
      return 'SECRET_KEY decrypts the stored keys';
    },
    advice: 'use the SECRET_KEY of the other processes; see "Replace SECRET_KEY" in docs/operations.md',
  },
  {
    part: 'limits',
    needs: ['database'],
    run: checkDatabaseLimits,
    advice:
      'set them for the role of DATABASE_URL: alter role … set statement_timeout = …; alter role … set lock_timeout = …; see "pgbouncer" in docs/operations.md',
  },
  {
    part: 'clocks',
    needs: ['database'],
    run: checkClocks,
    advice:
      'set the clocks of all machines with NTP, and run this command on each machine. Leases and tokens do not depend on the difference; see "Clocks" in docs/operations.md',
  },
  {
    part: 'replicas',
    run: ({ replicas }) => checkReplicas(replicas),
    advice:
      'start the standby, check that it streams from the database of DATABASE_URL, or correct DATABASE_REPLICA_URL; until then all reads use the primary',
  },
  {
    part: 'queues',
    needs: needsOfQueues,
    async run({ queues, config }) {
      await queues.check();
      return backendName(config);
    },
    advice:
      'start Redis, make it writable (raise maxmemory, free disk space, connect to the master), set maxmemory-policy noeviction, correct REDIS_URL, or unset REDIS_URL to use PostgreSQL; until then messages are accepted and jobs are delayed',
  },
  {
    part: 'prefix',
    needs: ['schema', 'secret', 'queues'],
    async run(core) {
      const others = await findOtherInstances(core);
      if (others.length > 0) throw new Error(describeSharedQueues(core, others));
      return core.config.REDIS_URL ? `${core.config.REDIS_PREFIX} is not shared` : 'Redis is not used';
    },
    advice: 'correct REDIS_URL, or set a different REDIS_PREFIX for each instance on this Redis',
  },
  {
    part: 'bus',
    needs: ['queues'],
    async run(core) {
      if (await waitForBus(core)) return backendName(core.config);
      throw new Error('cannot connect');
    },
    advice: 'start Redis, correct REDIS_URL, or unset REDIS_URL to use PostgreSQL',
  },
  {
    part: 'backlog',
    needs: ['schema', 'queues'],
    async run({ queues, db }) {
      const { rows, oldest } = await db.outbox.readAge();
      const depths = await queues.depths();
      const overdue = depths.filter((depth) => isOverdue(depth.oldest)).map(({ queue }) => queue);
      if (overdue.length > 0)
        throw new Error(`jobs have waited for more than a minute in: ${overdue.join(', ')}`);
      if (isOverdue(oldest)) throw new Error(`${rows} jobs in the outbox, the oldest for more than a minute`);
      const failed = depths
        .filter((depth) => depth.failed > 0)
        .map((depth) => `${depth.failed} failed in ${depth.queue} (ams queue failed ${depth.queue})`);
      return ['no overdue jobs', ...failed].join('; ');
    },
    advice: 'start workers for these queues, or see why jobs fail: ams queue failed QUEUE',
  },
  {
    part: 'workers',
    needs: ['schema'],
    async run(core) {
      const { count, missing } = await findRunningWorkers(core);
      if (missing.length > 0) throw new Error(`no worker is running with the role ${missing.join(', ')}`);
      return `${count} running, all roles covered`;
    },
    advice: 'start workers with these roles (npm run worker; WORKER_ROLES)',
  },
  {
    part: 'retention',
    needs: ['schema'],
    async run({ db, config }) {
      const days = config.FEED_RETENTION_DAYS;
      const [oldest, partitions] = await Promise.all([
        db.feedRetention.findOldestEvent(),
        db.partitions.list(),
      ]);
      const ends = partitions.filter(({ table }) => table === 'events').map(({ to }) => to);
      const limit = minIdAt('event', Date.now() - (days + removalDelayDays) * dayMs);
      const isLate = ends.length > 1 ? (ends[0] ?? '') < limit : oldest !== undefined && oldest < limit;
      if (oldest === undefined) return 'no events yet';
      const age = Math.floor((Date.now() - timeOfId(oldest)) / dayMs);
      if (!isLate) return `oldest event ${age} days old, retention ${days} days`;
      throw new Error(`the oldest event is ${age} days old, but the retention is ${days} days`);
    },
    advice: 'start a worker with the role maintenance, or check its log for expire-feeds',
  },
  {
    part: 'partitions',
    needs: ['schema'],
    async run({ db }) {
      const until = coveredUntil(await db.partitions.list());
      if (until.size === 0) throw new Error('no table is partitioned');
      const first = Math.min(...until.values());
      const date = new Date(first).toISOString().slice(0, 10);
      if (first > Date.now() + dayMs) return `created until ${date}`;
      throw new Error(`there are none after ${date}; new rows go to the default partitions`);
    },
    advice: 'run ams migrate; start a worker with the role maintenance, or check its log for expire-feeds',
  },
  {
    part: 'feeds',
    needs: ['schema'],
    async run({ unitOfWork }) {
      const epoch = await unitOfWork.read(system, readFeedEpoch);
      if (epoch.status === 'none') return 'no process has started on this database yet';
      if (epoch.status === 'current')
        return `positions of this database since ${new Date(epoch.since).toISOString()}`;
      throw new Error('the database was restored, and no process has started since');
    },
    advice: 'restart the API or a worker, or run: npm run -s ams -- feeds mark-restored --yes',
  },
  {
    part: 'files',
    needs: ['database'],
    async run({ blobs, config, db }) {
      await blobs.check();
      await checkStoreOwner({ blobs, db });
      return config.S3_BUCKET === undefined
        ? `in ${config.DATA_DIR}/blobs`
        : `in the bucket ${config.S3_BUCKET}`;
    },
    advice: ({ config: { S3_BUCKET, DATA_DIR } }, reason) =>
      reason instanceof ForeignStore
        ? 'see "Restore" in docs/operations.md'
        : S3_BUCKET === undefined || reason instanceof UnusableFolder
          ? `make ${DATA_DIR} writable, free disk space, or correct DATA_DIR`
          : 'start the object store, create the bucket, allow the key to put, get, delete and list, or correct S3_ENDPOINT, S3_BUCKET, S3_REGION and the keys',
  },
  {
    part: 'scanner',
    async run({ config }) {
      if (config.CLAMD_URL === undefined) return 'none; only the sizes of ZIP archives are checked';
      await pingClamd(config.CLAMD_URL);
      await createClamdScanner(config.CLAMD_URL).scan(maxSizeFile);
      return 'ClamAV';
    },
    advice:
      'start clamd, set its StreamMaxLength to at least 10 MiB, correct CLAMD_URL, or unset it; until then uploads stay unscanned and fail after an hour',
  },
  {
    part: 'api',
    needs: ['schema'],
    async run({ config }) {
      const response = await fetch(`${config.PUBLIC_URL}/readyz`, { signal: AbortSignal.timeout(3_000) });
      if (response.ok) return `ready at ${config.PUBLIC_URL}`;
      throw new Error(`${config.PUBLIC_URL}/readyz returned ${response.status}: ${await response.text()}`);
    },
    advice: 'start it (ams start, npm start or npm run api), or correct PUBLIC_URL',
  },
  {
    part: 'mail',
    async run({ mailer }) {
      if (!mailer) return 'none';
      await mailer.check();
      return 'the mail server accepts connections';
    },
    advice:
      'start the mail server, correct SMTP_URL, or unset SMTP_URL and SMTP_FROM; until then people get no e-mail',
  },
  {
    part: 'issuer',
    async run({ config }) {
      const client = openIdClientOf(config);
      if (!client) return 'none';
      await discover(client);
      return `${new URL(client.issuer).host} responds`;
    },
    advice:
      'start it, allow the API outgoing https, or correct OIDC_ISSUER; until then people cannot sign in with it',
  },
  {
    part: 'documents',
    run: ({ config }) => checkClientDocuments(config),
    advice:
      'allow the API outgoing https, or set CLIENT_ID_METADATA_DOCUMENTS=false, so that clients that prefer these documents register instead',
  },
  {
    part: 'remote',
    needs: ['schema'],
    run: checkRemoteAgents,
    advice:
      'allow workers outgoing https, set REMOTE_NETWORKS for agents in other networks, or set REMOTE_AGENTS=false',
  },
];

const isOverdue = (since: number | null): boolean => since !== null && Date.now() - since > maxWaitMs;

const backendName = ({ REDIS_URL }: Config): string => (REDIS_URL ? 'Redis' : 'PostgreSQL');
