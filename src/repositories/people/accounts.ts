import { repository, sql } from '../sql.ts';

/** A person's account with its password. */
export interface AccountRow {
  id: string;
  username: string;
  /** Null while the person has not chosen one. */
  display_name: string | null;
  /** Null while the account has no password. */
  password_hash: string | null;
}

/** Filters that a person has given a name. */
export interface SavedView {
  name: string;
  /** The query of the address that shows them. */
  query: string;
}

const columns = `a.id, o.name as username, o.display_name, a.password_hash`;

export const accountsRepository = repository({
  find: sql.row<[id: string], AccountRow>(
    'accounts.find',
    `select ${columns} from accounts a join owners o on o.id = a.id where a.id = :id`,
  ),
  /** As find, and locks the account until the transaction ends. */
  lock: sql.row<[id: string], AccountRow>(
    'accounts.lock',
    `select ${columns} from accounts a join owners o on o.id = a.id where a.id = :id for no key update of a`,
  ),
  findByName: sql.row<[name: string], AccountRow>(
    'accounts.find_by_name',
    `select ${columns} from accounts a join owners o on o.id = a.id where o.name = :name`,
  ),
  setPassword: sql.run<[id: string, passwordHash: string]>(
    'accounts.set_password(id, password_hash)',
    `update accounts set password_hash = :password_hash where id = :id`,
  ),
  /** Filters of the list of conversations, in the order of saving. */
  listViews: sql.value<[id: string], SavedView[]>(
    'accounts.list_views',
    'select saved_views from accounts where id = :id',
  ),
  /** @param views as JSON */
  setViews: sql.run<[id: string, views: string]>(
    'accounts.set_views(id, views)',
    'update accounts set saved_views = :views::jsonb where id = :id',
  ),
  /** Returns false, and changes nothing, when the hash is not `before`. */
  replacePassword: sql.hasRow<[id: string, before: string | null, after: string]>(
    'accounts.replace_password(id, before, after)',
    `update accounts set password_hash = :after where id = :id and password_hash is not distinct from :before returning 1`,
  ),
});
