import { type Queryable, statement } from '../queryable.ts';

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
    `insert into account_identities (issuer, subject, account_id, created_at) values ($1, $2, $3, $4)
     on conflict (issuer, subject) do nothing returning account_id`,
  ),
  find: statement(
    'account_identities.find',
    `select issuer, subject, account_id, created_at from account_identities where issuer = $1 and subject = $2`,
  ),
  list: statement(
    'account_identities.list',
    `select issuer, subject, account_id, created_at from account_identities
     where account_id = $1 order by created_at, issuer, subject`,
  ),
  remove: statement(
    'account_identities.remove',
    `delete from account_identities where account_id = $1 and issuer = $2 and subject = $3`,
  ),
};

export function accountIdentitiesRepository(db: Queryable) {
  return {
    /** Whether nobody had it, and the account has it now. */
    async insert(identity: IdentityRow): Promise<boolean> {
      const { issuer, subject, account_id, created_at } = identity;
      return (await db.query(statements.insert, [issuer, subject, account_id, created_at])).length > 0;
    },
    async find(issuer: string, subject: string): Promise<IdentityRow | undefined> {
      return (await db.query<IdentityRow>(statements.find, [issuer, subject]))[0];
    },
    /** Oldest first. */
    list(accountId: string): Promise<IdentityRow[]> {
      return db.query<IdentityRow>(statements.list, [accountId]);
    },
    async remove(accountId: string, issuer: string, subject: string): Promise<void> {
      await db.query(statements.remove, [accountId, issuer, subject]);
    },
  };
}
