import { authorFromPerson, system } from '../../../packages/core/src/domain/auth/audit.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ReadWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { endGrant, type NewConnection, recordConnection } from './connections.ts';
import { endTokens } from './revocations.ts';
import { toTokenRow, sha256 } from './token-records.ts';
import { refreshTokenLifeSeconds, type Revocation, tokenLifeSeconds } from './tokens.ts';

type SystemAccess = Pick<UnitOfWork, 'read' | 'write'>;
type EndGrant = (grant_id: string) => Promise<void>;

export interface OAuthStorageParts {
  unitOfWork: SystemAccess;
  clock: Pick<Clock, 'now' | 'offsetMs'>;
  /** Publishes revocations to all processes. Must not reject: the database is already updated. */
  publish(revocations: readonly Revocation[]): Promise<void>;
  /** Time after its first use in which a refresh token can be used again, in milliseconds; 0 for never. */
  refresh_grace_ms: number;
}

/** Enough for the concurrent calls of a client that all find their access token expired. */
const maxRefreshUses = 16;

/** The decisions of people about authorization requests, which outlive the requests. */
const decisionModel = 'Decision';
const decisionLifeMs = 3_600_000;

const noGrace = { duration_ms: 0, uses: 1 };

/** A grant outlives its last refresh token, because its row is needed while that token is checked. */
const grantLifeMs = (refreshTokenLifeSeconds + tokenLifeSeconds) * 1_000;

/**
 * The storage of the authorization server. Ids of codes and tokens are secrets and are stored as hashes; the id of a grant is not
 * secret. All methods throw UNAVAILABLE if the database does not respond.
 */
export function createOAuthStorage({ unitOfWork, clock, publish, refresh_grace_ms }: OAuthStorageParts) {
  const end: EndGrant = async (grant_id) =>
    publish(await unitOfWork.write(system, (work) => endGrant(work, grant_id)));
  return {
    ...clientStorage(unitOfWork),
    ...tokenStorage(unitOfWork, clock, publish),
    ...grantStorage(unitOfWork, end),
    ...recordStorage(unitOfWork, clock, { refresh_grace_ms, end }),
  };
}

export type OAuthStorage = ReturnType<typeof createOAuthStorage>;

function clientStorage(unitOfWork: SystemAccess) {
  return {
    /** Returns a registered or confidential client; undefined if it is unknown or revoked, or its agent is retired. */
    async findClient(clientId: string) {
      // PostgreSQL text cannot contain NUL.
      if (clientId.includes('\0')) return undefined;
      return unitOfWork.read(
        system,
        async ({ db: { credentials, oauthClients } }) =>
          (await credentials.findActive(clientId)) ?? oauthClients.find(clientId),
      );
    },

    async saveClient(client: { client_id: string; metadata: Record<string, unknown> }): Promise<void> {
      await unitOfWork.read(system, ({ db: { oauthClients } }) =>
        oauthClients.insert({ ...client, created_at: Date.now() }),
      );
    },

    /** Returns the agent unless it is retired. */
    findAgent(agentId: string) {
      return unitOfWork.read(system, ({ db: { agents } }) => agents.find(agentId));
    },
  };
}

function tokenStorage(
  unitOfWork: SystemAccess,
  clock: OAuthStorageParts['clock'],
  publish: OAuthStorageParts['publish'],
) {
  return {
    /**
     * Saves an access token, and records the use of its credential or grant. Returns false, and saves nothing, when a rotation has ended the
     * secret of the credential, by its hash.
     */
    saveToken(token: string, payload: object, secret_hash: Buffer | null): Promise<boolean> {
      const record = toTokenRow(token, toDatabaseTime(payload, clock), secret_hash);
      const { client_id, grant_id } = record;
      const now = clock.now();
      return unitOfWork.read(system, async ({ db: { tokens, clientGrants, credentials } }) => {
        if (!(await tokens.insert(record))) return false;
        if (grant_id === null) await credentials.recordUse(client_id, now);
        else await clientGrants.recordUse(grant_id, now, now + grantLifeMs);
        return true;
      });
    },

    /** Returns the payload of an access token of this kind; undefined if it or its grant ended or its agent is retired. */
    async findToken(kind: string, token: string): Promise<object | undefined> {
      const row = await unitOfWork.read(system, ({ db: { tokens } }) => tokens.find(sha256(token)));
      return row?.payload['kind'] === kind ? { ...toProcessTime(row.payload, clock), jti: token } : undefined;
    },

    /** Ends one access token in all processes. */
    async endToken(token: string): Promise<void> {
      const token_id = sha256(token).toString('base64url');
      await publish(await unitOfWork.write(system, (work) => endTokens(work, { token_id })));
    },
  };
}

function grantStorage(unitOfWork: SystemAccess, end: EndGrant) {
  return {
    /**
     * Records a new grant of a person.
     * @throws {DomainError} AGENT_NOT_FOUND if the person cannot act as the agent
     */
    async openGrant(request: Omit<NewConnection, 'grant_id'>): Promise<{ grant_id: string }> {
      const grant_id = newId('grant');
      const grant = { ...request, grant_id };
      await unitOfWork.write(authorFromPerson(request), (work) => recordConnection(work, grant));
      return { grant_id };
    },

    /** Whether any person has a grant for this client. */
    async isConnected(clientId: string): Promise<boolean> {
      if (clientId.includes('\0')) return false;
      return unitOfWork.read(system, ({ db: { clientGrants } }) => clientGrants.existsFor(clientId));
    },

    /** Returns an active grant whose person can still act as its agent. */
    findGrant(grantId: string) {
      return unitOfWork.read(system, ({ db: { clientGrants } }) => clientGrants.findActive(grantId));
    },

    /** Ends a grant with its codes, refresh tokens and access tokens, in all processes. */
    endGrant: end,
  };
}

function recordStorage(
  unitOfWork: SystemAccess,
  clock: OAuthStorageParts['clock'],
  { refresh_grace_ms, end }: Pick<OAuthStorageParts, 'refresh_grace_ms'> & { end: EndGrant },
) {
  const graces: Record<string, typeof noGrace> = {
    RefreshToken: { duration_ms: refresh_grace_ms, uses: maxRefreshUses },
  };
  const onRecords = <T>(run: (records: ReadWork['db']['oauthRecords']) => Promise<T>) =>
    unitOfWork.read(system, ({ db }) => run(db.oauthRecords));

  return {
    /**
     * Saves a record of any other model.
     * @param lifeSeconds until it expires; undefined for never.
     * @param predecessor id of the record whose use created this one.
     */
    async saveRecord(
      model: string,
      id: string,
      payload: object,
      lifeSeconds?: number,
      predecessor?: string,
    ): Promise<void> {
      const { jti: _id, ...kept }: { jti?: unknown; grantId?: unknown } = payload;
      const origin = predecessor !== undefined && { successor_of: sha256(predecessor).toString('hex') };
      const record = {
        model,
        id_hash: sha256(id),
        grant_id: typeof kept.grantId === 'string' ? kept.grantId : null,
        payload: { ...toDatabaseTime(kept, clock), ...origin },
        expires_at: lifeSeconds === undefined ? null : clock.now() + lifeSeconds * 1_000,
      };
      await onRecords((records) => records.put(record));
    },

    /** Saves the decision about an authorization request, for an hour. Returns whether it is the first one. */
    addDecision(uid: string, decision: { grantId: string | null }): Promise<boolean> {
      const record = {
        model: decisionModel,
        id_hash: sha256(uid),
        grant_id: decision.grantId,
        payload: decision,
      };
      const expires_at = clock.now() + decisionLifeMs;
      return onRecords((records) => records.add({ ...record, expires_at }));
    },

    async findRecord(model: string, id: string): Promise<object | undefined> {
      const row = await onRecords((records) => records.find(model, sha256(id)));
      return row && { ...toProcessTime(row.payload, clock), jti: id, ...toConsumedSeconds(row.consumed_at) };
    },

    /**
     * Consumes a code or a refresh token; returns false if it was used before. A second use ends the grant, with
     * everything issued by the first one (RFC 9700, section 4.14.2). A refresh token can be used again for a grace period, until its
     * successor is used, and after a crash that left it without a successor.
     */
    async consumeRecord(model: string, id: string): Promise<boolean> {
      const idHash = sha256(id);
      const grace = graces[model] ?? noGrace;
      const now = clock.now();
      if (await onRecords((records) => records.consume(model, idHash, now, grace))) return true;
      const row = await onRecords((records) => records.find(model, idHash));
      if (row?.grant_id) await end(row.grant_id);
      return false;
    },

    /** Removes a record. Returns whether it existed: true for exactly one of concurrent calls. */
    removeRecord(model: string, id: string): Promise<boolean> {
      return onRecords((records) => records.remove(model, sha256(id)));
    },
  };
}

/** oidc-provider reads the clock of the process, in seconds. Rows have the time of the database, for the other processes. */
const toDatabaseTime = (payload: object, { offsetMs }: OAuthStorageParts['clock']): object =>
  movePayload(payload, Math.round(offsetMs() / 1_000));

const toProcessTime = (payload: object, { offsetMs }: OAuthStorageParts['clock']): object =>
  movePayload(payload, -Math.round(offsetMs() / 1_000));

function movePayload(payload: object, seconds: number): object {
  const times = Object.entries(payload).filter(
    ([name, value]) => (name === 'iat' || name === 'exp') && typeof value === 'number',
  );
  return { ...payload, ...Object.fromEntries(times.map(([name, time]) => [name, Number(time) + seconds])) };
}

/** oidc-provider counts seconds. */
function toConsumedSeconds(at: number | null): { consumed?: number } {
  return at === null ? {} : { consumed: Math.floor(at / 1_000) };
}
