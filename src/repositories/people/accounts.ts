import { type Queryable, statement } from '../queryable.ts';

/** A person's account with its password. */
export interface AccountRow {
  id: string;
  username: string;
  /** Null while the person has not chosen one. */
  display_name: string | null;
  /** Null while the account has no password. */
  password_hash: string | null;
}

const columns = `a.id, o.name as username, o.display_name, a.password_hash`;

const statements = {
  find: statement(
    'accounts.find',
    `select ${columns} from accounts a join owners o on o.id = a.id where a.id = $1`,
  ),
  lock: statement(
    'accounts.lock',
    `select ${columns} from accounts a join owners o on o.id = a.id where a.id = $1 for no key update of a`,
  ),
  findByName: statement(
    'accounts.find_by_name',
    `select ${columns} from accounts a join owners o on o.id = a.id where o.name = $1`,
  ),
  setPassword: statement('accounts.set_password', `update accounts set password_hash = $2 where id = $1`),
  replacePassword: statement(
    'accounts.replace_password',
    `update accounts set password_hash = $3 where id = $1 and password_hash is not distinct from $2 returning 1`,
  ),
};

export function accountsRepository(db: Queryable) {
  return {
    async find(id: string): Promise<AccountRow | undefined> {
      return (await db.query<AccountRow>(statements.find, [id]))[0];
    },
    /** As find, and locks the account until the transaction ends. */
    async lock(id: string): Promise<AccountRow | undefined> {
      return (await db.query<AccountRow>(statements.lock, [id]))[0];
    },
    async findByName(name: string): Promise<AccountRow | undefined> {
      return (await db.query<AccountRow>(statements.findByName, [name]))[0];
    },
    async setPassword(id: string, passwordHash: string): Promise<void> {
      await db.query(statements.setPassword, [id, passwordHash]);
    },
    /** Returns false, and changes nothing, when the hash is not `before`. */
    async replacePassword(id: string, before: string | null, after: string): Promise<boolean> {
      return (await db.query(statements.replacePassword, [id, before, after])).length > 0;
    },
  };
}
