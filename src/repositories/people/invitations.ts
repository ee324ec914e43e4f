import { repository, sql } from '../sql.ts';

export interface InvitationRow {
  id: string;
  /** How many people can sign up with it, and how many still can. */
  uses: number;
  uses_left: number;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
}

const columns = `id, uses, uses_left, created_at, expires_at, revoked_at`;

export const invitationsRepository = repository({
  insert: sql.run<
    [
      invitation: {
        id: string;
        code_hash: Buffer;
        uses: number;
        created_at: number;
        expires_at: number;
      },
    ]
  >(
    'invitations.insert',
    `insert into invitations (id, code_hash, uses, uses_left, created_at, expires_at) values (:id, :code_hash, :uses, :uses, :created_at, :expires_at)`,
  ),
  /** All invitations, oldest first, with the usernames of the accounts that used them. */
  list: sql.rows<[], InvitationRow & { accounts: string[] }>(
    'invitations.list',
    `select ${columns}, array(select o.name from accounts a join owners o on o.id = a.id
                             where a.invitation_id = i.id order by o.id) as accounts
     from invitations i order by i.id`,
  ),
  /** Uses a code once; returns the invitation's id, or undefined when the code is not valid at `now` (ms). */
  take: sql.value<[codeHash: Buffer, now: number], string | undefined>(
    'invitations.take(code_hash, now)',
    `update invitations set uses_left = uses_left - 1
     where code_hash = :code_hash and uses_left > 0 and expires_at > :now and revoked_at is null returning id`,
  ),
  /** Returns false when there is no such invitation or it is revoked already. */
  revoke: sql.hasRow<[id: string, revokedAt: number]>(
    'invitations.revoke(id, revoked_at)',
    `update invitations set revoked_at = :revoked_at where id = :id and revoked_at is null returning id`,
  ),
});
