import { authorFromPerson } from '../../domain/auth/audit.ts';
import { newId } from '../../domain/ids.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import { endGrant, type NewConnection, recordConnection } from './connections.ts';
import { endTokens } from './revocations.ts';
import { toTokenRow, sha256 } from './token-records.ts';
import { refreshTokenLifeSeconds, type Revocation, tokenLifeSeconds } from './tokens.ts';

export interface OAuthStorageParts {
  unitOfWork: Pick<UnitOfWork, 'readAsSystem' | 'writeAsSystem'>;
  /** Tells every process what ended. Must not reject: the database has it already. */
  publish(revocations: readonly Revocation[]): Promise<void>;
  /** Milliseconds after its first use in which a refresh token may be used again; 0 for never. */
  refresh_grace_ms: number;
}

/** As many as a client may have calls under way that all find their access token over. */
const maxRefreshUses = 16;

const noGrace = { lasts_ms: 0, uses: 1 };

/** A grant outlives the last refresh token by a little: its row must be there while that one is looked at. */
const grantLifeMs = (refreshTokenLifeSeconds + tokenLifeSeconds) * 1_000;

/**
 * Where the authorization server keeps its records: access tokens beside the agents they act as, grants beside the people who gave
 * them, everything else by model. Ids are secrets and stored as hashes only; that of a grant is none. All methods throw UNAVAILABLE
 * when the database does not answer.
 */
export function createOAuthStorage({ unitOfWork, publish, refresh_grace_ms }: OAuthStorageParts) {
  const { readAsSystem, writeAsSystem } = unitOfWork;
  const graces: Record<string, typeof noGrace> = {
    RefreshToken: { lasts_ms: refresh_grace_ms, uses: maxRefreshUses },
  };

  async function end(grant_id: string): Promise<void> {
    await publish(await writeAsSystem((work) => endGrant(work, grant_id)));
  }

  return {
    /** The client of this id: one that registered itself, or a confidential one, unless it is revoked or its agent retired. */
    async findClient(clientId: string) {
      // PostgreSQL knows no NUL character, so there is no client of such a name.
      if (clientId.includes('\0')) return undefined;
      return readAsSystem(
        async ({ credentials, oauthClients }) =>
          (await credentials.findActive(clientId)) ?? oauthClients.find(clientId),
      );
    },

    async saveClient(client: { client_id: string; metadata: Record<string, unknown> }): Promise<void> {
      await readAsSystem(({ oauthClients }) => oauthClients.insert({ ...client, created_at: Date.now() }));
    },

    /** The agent, unless it is retired. */
    findAgent(agentId: string) {
      return readAsSystem(({ agents }) => agents.find(agentId));
    },

    /** Saves an access token, and notes that whoever it is for was in use. */
    async saveToken(token: string, payload: object): Promise<void> {
      const record = toTokenRow(token, payload);
      const { client_id, grant_id } = record;
      const now = Date.now();
      await readAsSystem(async ({ tokens, clientGrants, credentials }) => {
        await tokens.insert(record);
        if (grant_id === null) await credentials.recordUse(client_id, now);
        else await clientGrants.recordUse(grant_id, now, now + grantLifeMs);
      });
    },

    /** What was saved of an access token of this kind, unless it or its grant ended or its agent retired. */
    async findToken(kind: string, token: string): Promise<object | undefined> {
      const row = await readAsSystem(({ tokens }) => tokens.find(sha256(token)));
      return row?.payload['kind'] === kind ? { ...row.payload, jti: token } : undefined;
    },

    /** Ends one access token, here and in every process. */
    async endToken(token: string): Promise<void> {
      const token_id = sha256(token).toString('base64url');
      await publish(await readAsSystem((repositories) => endTokens(repositories, { token_id })));
    },

    /**
     * Notes what a person grants.
     * @throws {DomainError} AGENT_NOT_FOUND when the person may not act as the agent
     */
    async openGrant(request: Omit<NewConnection, 'grant_id'>): Promise<{ grant_id: string }> {
      const grant_id = newId('grant');
      const granted = { ...request, grant_id };
      await writeAsSystem((work) => recordConnection(work, granted), authorFromPerson(request));
      return { grant_id };
    },

    /** Whether any person has a grant for this client. */
    async isConnected(clientId: string): Promise<boolean> {
      if (clientId.includes('\0')) return false;
      return readAsSystem(({ clientGrants }) => clientGrants.existsFor(clientId));
    },

    /** A grant that stands, and whose person may act as its agent still. */
    findGrant(grantId: string) {
      return readAsSystem(({ clientGrants }) => clientGrants.findActive(grantId));
    },

    /** Ends a grant with its codes, refresh tokens and access tokens, here and in every process. */
    endGrant: end,

    /** @param life_s seconds until it expires; without it never. @param predecessor the id of the one whose use it comes of. */
    async saveRecord(
      model: string,
      id: string,
      payload: object,
      life_s?: number,
      predecessor?: string,
    ): Promise<void> {
      const { jti: _id, ...kept }: { jti?: unknown; grantId?: unknown } = payload;
      const origin = predecessor !== undefined && { successor_of: sha256(predecessor).toString('hex') };
      const record = {
        model,
        id_hash: sha256(id),
        grant_id: typeof kept.grantId === 'string' ? kept.grantId : null,
        payload: { ...kept, ...origin },
        expires_at: life_s === undefined ? null : Date.now() + life_s * 1000,
      };
      await readAsSystem(({ oauthRecords }) => oauthRecords.put(record));
    },

    async findRecord(model: string, id: string): Promise<object | undefined> {
      const row = await readAsSystem(({ oauthRecords }) => oauthRecords.find(model, sha256(id)));
      return row && { ...row.payload, jti: id, ...toConsumedSeconds(row.consumed_at) };
    },

    /**
     * Consumes a code, a refresh token or a decided request. Whoever finds it used ends its grant, so that what the first one got is worth nothing either
     * (RFC 9700, section 4.14.2). A refresh token has its grace: for a moment, and until what came of it is used in turn, some more
     * uses succeed.
     */
    async consumeRecord(model: string, id: string): Promise<boolean> {
      const idHash = sha256(id);
      const grace = graces[model] ?? noGrace;
      const now = Date.now();
      if (await readAsSystem(({ oauthRecords }) => oauthRecords.consume(model, idHash, now, grace)))
        return true;
      const row = await readAsSystem(({ oauthRecords }) => oauthRecords.find(model, idHash));
      if (row?.grant_id) await end(row.grant_id);
      return false;
    },

    /** Removes a record; answers whether it was there: of several at once, one hears yes. */
    removeRecord(model: string, id: string): Promise<boolean> {
      return readAsSystem(({ oauthRecords }) => oauthRecords.remove(model, sha256(id)));
    },
  };
}

/** The authorization server counts seconds. */
function toConsumedSeconds(at: number | null): { consumed?: number } {
  return at === null ? {} : { consumed: Math.floor(at / 1000) };
}
