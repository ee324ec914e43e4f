import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import type { Member } from '../../../../services/people/memberships.ts';
import { monogram, type Row, Time } from '../../components/rows.tsx';
import { Badge } from '../../components/content.tsx';

interface Viewer {
  /** The path of the page of the organization. */
  address: string;
  person: Person;
  /** Whether the person is an admin. */
  isAdmin: boolean;
}

/** A member of an organization with the allowed actions. */
export function memberRow({ username, role, created_at }: Member, viewer: Viewer): Row {
  const { address, person, isAdmin } = viewer;
  const isSelf = username === person.username;
  const other = role === 'admin' ? 'member' : 'admin';
  return {
    key: username,
    mark: monogram(username),
    title: [
      username,
      isSelf && [' ', <Badge>You</Badge>],
      role === 'admin' && [' ', <Badge tone="accent">Admin</Badge>],
    ],
    text: ['Since ', <Time at={created_at} />],
    buttons: [
      isAdmin && {
        label: `Make ${other}`,
        action: `${address}/roles`,
        hidden: { username, role: other },
        about: `of ${username}`,
      },
      (isAdmin || isSelf) && {
        label: isSelf ? 'Leave' : 'Remove',
        href: `${address}/members/${username}/remove`,
        about: isSelf ? undefined : username,
      },
    ],
  };
}
