import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import type { requireOrganization } from '../../../../services/people/memberships.ts';
import { monogram } from '../../components/agent-rows.tsx';
import { Badge } from '../../components/content.tsx';
import { Button, ButtonLink, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';

type Member = Awaited<ReturnType<typeof requireOrganization>>['members'][number];

interface MemberRowsProps {
  slug: string;
  members: readonly Member[];
  /** The signed-in person. */
  person: Person;
  /** Whether the signed-in person is an admin. */
  isAdmin: boolean;
}

/** The members of an organization with the allowed actions. */
export function MemberRows({ slug, members, person, isAdmin }: MemberRowsProps) {
  const rows = members.map((member) => {
    const { username, role, created_at } = member;
    const isSelf = username === person.username;
    return {
      key: username,
      mark: monogram(username),
      title: (
        <>
          {username} {isSelf && <Badge>You</Badge>} {role === 'admin' && <Badge tone="accent">Admin</Badge>}
        </>
      ),
      text: (
        <>
          Since <Time at={created_at} />
        </>
      ),
      side: (
        <>
          {isAdmin && <RoleButton slug={slug} member={member} />}
          {(isAdmin || isSelf) && (
            <ButtonLink href={`/console/organizations/${slug}/members/${username}/remove`}>
              {isSelf ? 'Leave' : 'Remove'}
              {!isSelf && <span class="visually-hidden"> {username}</span>}
            </ButtonLink>
          )}
        </>
      ),
    };
  });
  return <Rows label="People" rows={rows} />;
}

function RoleButton({ slug, member: { username, role } }: { slug: string; member: Member }) {
  const other = role === 'admin' ? 'member' : 'admin';
  return (
    <Form action={`/console/organizations/${slug}/roles`} class="inline" hidden={{ username, role: other }}>
      <Button kind="quiet">
        Make {other}
        <span class="visually-hidden"> of {username}</span>
      </Button>
    </Form>
  );
}
