import type { UnitOfWork } from '../unit-of-work.ts';
import { endTokens } from './revocations.ts';
import { sha256, tokenRecord } from './token-records.ts';
import type { Revocation } from './tokens.ts';

export interface OAuthStorageParts {
  unitOfWork: Pick<UnitOfWork, 'consult'>;
  /** Tells every process what ended. Must not reject: the database has it already. */
  announce(revocations: readonly Revocation[]): Promise<void>;
}

/**
 * Where the authorization server keeps its records: access tokens beside the agents they act as, everything else by model.
 * Ids are secrets and stored as hashes only. All methods throw UNAVAILABLE when the database does not answer.
 */
export function createOAuthStorage({ unitOfWork, announce }: OAuthStorageParts) {
  const { consult } = unitOfWork;

  return {
    /** The confidential client of this id, unless it is revoked or its agent retired. */
    async findClient(clientId: string) {
      // PostgreSQL knows no NUL character, so there is no client of such a name.
      if (clientId.includes('\0')) return undefined;
      return consult(({ credentials }) => credentials.findActive(clientId));
    },

    async saveToken(token: string, payload: object): Promise<void> {
      const record = tokenRecord(token, payload);
      await consult(({ tokens }) => tokens.insert(record));
    },

    /** What was saved of an access token of this kind, unless it was revoked or its agent retired. */
    async findToken(kind: string, token: string): Promise<object | undefined> {
      const row = await consult(({ tokens }) => tokens.find(sha256(token)));
      return row?.payload['kind'] === kind ? { ...row.payload, jti: token } : undefined;
    },

    /** Ends one access token, here and in every process. */
    async endToken(token: string): Promise<void> {
      const token_id = sha256(token).toString('base64url');
      await announce(await consult((repositories) => endTokens(repositories, { token_id })));
    },

    /** Ends every access token of a grant, here and in every process. */
    async endTokensOfGrant(grant_id: string): Promise<void> {
      await announce(await consult((repositories) => endTokens(repositories, { grant_id })));
    },

    /** @param life_s seconds until it expires; without it never. */
    async saveRecord(model: string, id: string, payload: object, life_s?: number): Promise<void> {
      const { jti: _id, ...kept }: { jti?: unknown; grantId?: unknown } = payload;
      const record = {
        model,
        id_hash: sha256(id),
        grant_id: typeof kept.grantId === 'string' ? kept.grantId : null,
        payload: kept,
        expires_at: life_s === undefined ? null : Date.now() + life_s * 1000,
      };
      await consult(({ oauthRecords }) => oauthRecords.put(record));
    },

    async findRecord(model: string, id: string): Promise<object | undefined> {
      const row = await consult(({ oauthRecords }) => oauthRecords.find(model, sha256(id)));
      return row && { ...row.payload, jti: id, ...consumed(row.consumed_at) };
    },

    async consumeRecord(model: string, id: string): Promise<void> {
      await consult(({ oauthRecords }) => oauthRecords.consume(model, sha256(id), Date.now()));
    },

    async removeRecord(model: string, id: string): Promise<void> {
      await consult(({ oauthRecords }) => oauthRecords.remove(model, sha256(id)));
    },

    async removeRecordsOfGrant(model: string, grantId: string): Promise<void> {
      await consult(({ oauthRecords }) => oauthRecords.removeOfGrant(model, grantId));
    },
  };
}

/** The authorization server counts seconds. */
function consumed(at: number | null): { consumed?: number } {
  return at === null ? {} : { consumed: Math.floor(at / 1000) };
}
