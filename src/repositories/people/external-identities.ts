import { type Queryable, statement, query } from '../queryable.ts';

/** Who an account is at an external provider. */
export interface IdentityRow {
  issuer: string;
  subject: string;
  account_id: string;
  created_at: number;
}

const statements = {
  insert: statement(
    'account_identities.insert',
    `insert into account_identities (issuer, subject, account_id, created_at) values (:issuer, :subject, :account_id, :created_at)
     on conflict (issuer, subject) do nothing returning account_id`,
  ),
  find: statement(
    'account_identities.find',
    `select issuer, subject, account_id, created_at from account_identities where issuer = :issuer and subject = :subject`,
  ),
  list: statement(
    'account_identities.list',
    `select issuer, subject, account_id, created_at from account_identities
     where account_id = :account_id order by created_at, issuer, subject`,
  ),
  remove: statement(
    'account_identities.remove',
    `delete from account_identities where account_id = :account_id and issuer = :issuer and subject = :subject`,
  ),
};

export function accountIdentitiesRepository(db: Queryable) {
  return {
    /** Whether nobody had it, and the account has it now. */
    async insert(identity: IdentityRow): Promise<boolean> {
      const { issuer, subject, account_id, created_at } = identity;
      return (await query(db, statements.insert, { issuer, subject, account_id, created_at })).length > 0;
    },
    async find(issuer: string, subject: string): Promise<IdentityRow | undefined> {
      return (await query<IdentityRow>(db, statements.find, { issuer, subject }))[0];
    },
    /** Oldest first. */
    list(accountId: string): Promise<IdentityRow[]> {
      return query<IdentityRow>(db, statements.list, { account_id: accountId });
    },
    async remove(accountId: string, issuer: string, subject: string): Promise<void> {
      await query(db, statements.remove, { account_id: accountId, issuer, subject });
    },
  };
}
