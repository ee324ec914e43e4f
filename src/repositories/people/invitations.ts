import { type Queryable, statement, query } from '../queryable.ts';

export interface InvitationRow {
  id: string;
  /** How many may sign up with it, and how many still may. */
  uses: number;
  uses_left: number;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
}

const columns = `id, uses, uses_left, created_at, expires_at, revoked_at`;

const statements = {
  insert: statement(
    'invitations.insert',
    `insert into invitations (id, code_hash, uses, uses_left, created_at, expires_at) values (:id, :code_hash, :uses, :uses, :created_at, :expires_at)`,
  ),
  list: statement(
    'invitations.list',
    `select ${columns}, array(select o.name from accounts a join owners o on o.id = a.id
                             where a.invitation_id = i.id order by o.id) as accounts
     from invitations i order by i.id`,
  ),
  take: statement(
    'invitations.take',
    `update invitations set uses_left = uses_left - 1
     where code_hash = :code_hash and uses_left > 0 and expires_at > :now and revoked_at is null returning id`,
  ),
  revoke: statement(
    'invitations.revoke',
    `update invitations set revoked_at = :revoked_at where id = :id and revoked_at is null returning id`,
  ),
};

export function invitationsRepository(db: Queryable) {
  return {
    async insert(invitation: {
      id: string;
      code_hash: Buffer;
      uses: number;
      created_at: number;
      expires_at: number;
    }): Promise<void> {
      const { id, code_hash, uses, created_at, expires_at } = invitation;
      await query(db, statements.insert, { id, code_hash, uses, created_at, expires_at });
    },
    /** Every invitation, oldest first, with the names of those who signed up with it. */
    list(): Promise<(InvitationRow & { accounts: string[] })[]> {
      return query<InvitationRow & { accounts: string[] }>(db, statements.list, {});
    },
    /** Takes one use of a code that is good at `now` (ms); answers the invitation's id. */
    async take(codeHash: Buffer, now: number): Promise<string | undefined> {
      return (await query<{ id: string }>(db, statements.take, { code_hash: codeHash, now }))[0]?.id;
    },
    /** Whether it was there and not yet revoked. */
    async revoke(id: string, revokedAt: number): Promise<boolean> {
      return (await query(db, statements.revoke, { id, revoked_at: revokedAt })).length > 0;
    },
  };
}
