import type { Person } from '../../../../domain/auth/actor.ts';
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
  /** Who looks. */
  person: Person;
  /** Whether that person is an admin. */
  admin: boolean;
}

/** The people of an organization, with what the one who looks may do about each. */
export function MemberRows({ slug, members, person, admin }: MemberRowsProps) {
  const rows = members.map((member) => {
    const { username, role, created_at } = member;
    const self = username === person.username;
    return {
      key: username,
      mark: monogram(username),
      title: (
        <>
          {username} {self && <Badge>You</Badge>} {role === 'admin' && <Badge tone="accent">Admin</Badge>}
        </>
      ),
      text: (
        <>
          Since <Time at={created_at} />
        </>
      ),
      side: (
        <>
          {admin && <OtherRole slug={slug} member={member} />}
          {(admin || self) && (
            <ButtonLink href={`/console/organizations/${slug}/members/${username}/remove`}>
              {self ? 'Leave' : 'Remove'}
              {!self && <span class="unseen"> {username}</span>}
            </ButtonLink>
          )}
        </>
      ),
    };
  });
  return <Rows label="People" rows={rows} />;
}

function OtherRole({ slug, member: { username, role } }: { slug: string; member: Member }) {
  const other = role === 'admin' ? 'member' : 'admin';
  return (
    <Form action={`/console/organizations/${slug}/roles`} class="inline" hidden={{ username, role: other }}>
      <Button kind="quiet">
        Make {other}
        <span class="unseen"> of {username}</span>
      </Button>
    </Form>
  );
}
