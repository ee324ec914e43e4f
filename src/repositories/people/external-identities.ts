import { repository, sql } from '../sql.ts';

/** An account's identity at an external provider. */
export interface IdentityRow {
  issuer: string;
  subject: string;
  account_id: string;
  created_at: number;
}

export const accountIdentitiesRepository = repository({
  /** Returns false, and inserts nothing, when an account has this identity already. */
  insert: sql.hasRow<[identity: IdentityRow]>(
    'account_identities.insert',
    `insert into account_identities (issuer, subject, account_id, created_at) values (:issuer, :subject, :account_id, :created_at)
     on conflict (issuer, subject) do nothing returning account_id`,
  ),
  /** The identity at a provider, with its account. */
  find: sql.row<[issuer: string, subject: string], IdentityRow>(
    'account_identities.find(issuer, subject)',
    `select issuer, subject, account_id, created_at from account_identities where issuer = :issuer and subject = :subject`,
  ),
  /** Oldest first. */
  list: sql.rows<[accountId: string], IdentityRow>(
    'account_identities.list',
    `select issuer, subject, account_id, created_at from account_identities
     where account_id = :account_id order by created_at, issuer, subject`,
  ),
  remove: sql.run<[accountId: string, issuer: string, subject: string]>(
    'account_identities.remove(account_id, issuer, subject)',
    `delete from account_identities where account_id = :account_id and issuer = :issuer and subject = :subject`,
  ),
});
