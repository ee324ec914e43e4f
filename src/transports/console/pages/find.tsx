import { presentSubject } from '../../../../packages/core/src/domain/threads.ts';
import { listAgentsOfPerson } from '../../../services/people/agents.ts';
import { findConversations } from '../../../services/threads/conversations.ts';
import { Card, Facts } from '../components/content.tsx';
import { PostButton } from '../components/form.tsx';
import { useLayoutContext } from '../components/layout-context.ts';
import { Handle, Rows } from '../components/rows.tsx';
import { consoleLinks } from '../components/navigation.tsx';
import { definePage, Frame } from '../define/page.tsx';
import { preferencesPath } from '../preferences.ts';
import type { PersonVisit } from '../route.ts';
import { conversationAddress } from './conversations/filters.tsx';
import { titleOf } from './conversations/rows.tsx';

/** Threads that are searched by subject and member, the latest ones. */
const maxThreads = 200;
const maxShown = 12;

/** Goes to a page, an agent or a conversation by a part of its name. Ctrl-K opens it over any page. */
export const findPage = definePage({
  path: '/console/find',
  title: 'Go to',
  frame: 'over',
  sections: () => [
    ({ query }) => (
      <form method="get" action="/console/find" role="search" data-turbo="true" data-turbo-frame="found">
        <label class="visually-hidden" for="find">
          Page, agent or conversation
        </label>
        <input
          id="find"
          type="search"
          name="q"
          value={query.get('q') ?? ''}
          placeholder="Page, agent or conversation"
          maxLength={100}
          autocomplete="off"
          autofocus
        />
      </form>
    ),
    async (visit) => (
      <Frame id="found">
        <Found places={await findPlaces(visit)} />
      </Frame>
    ),
  ],
});

interface Place {
  name: string;
  href: string;
  about?: string;
}

async function findPlaces({ read, person: { account_id }, query }: PersonVisit): Promise<Place[]> {
  const [agents, conversations] = await Promise.all([
    read(listAgentsOfPerson, account_id),
    read(findConversations, { account_id }, {}, { after: null, limit: maxThreads }),
  ]);
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/);
  const places: Place[] = [
    ...consoleLinks.map(([href, name]) => ({ name, href })),
    ...agents.map(({ id, display_name, canonical_handle }) => ({
      name: display_name,
      href: `/console/agents/${id}`,
      about: canonical_handle,
    })),
    ...conversations.map((conversation) => ({
      name: titleOf(conversation),
      href: conversationAddress(conversation.id),
      ...(presentSubject(conversation.subject) !== null && {
        about: conversation.members.map(({ canonical_handle }) => canonical_handle).join(', @'),
      }),
    })),
  ];
  const isFound = ({ name, about = '' }: Place) =>
    words.every((word) => `${name} ${about}`.toLowerCase().includes(word));
  return places.filter(isFound).slice(0, maxShown);
}

function Found({ places }: { places: readonly Place[] }) {
  if (places.length === 0) return <p>Nothing has this name.</p>;
  const rows = places.map(({ name, href, about }) => ({
    key: href,
    title: (
      <a href={href}>
        <bdi>{name}</bdi>
      </a>
    ),
    text: about !== undefined && <Handle of={about} />,
  }));
  return <Rows label="Places" rows={rows} />;
}

const keyboard = [
  ['/', 'Search in messages'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['a, d', 'On Home: approve or answer, and deny or reject, in the row'],
  ['e, m', 'Mark the conversation that has the focus, or is open, as done, and mute it'],
  ['u', 'Undo the last decision or mark'],
  ['r', 'Reply to the message that has the focus, or to the last one'],
  ['g h', 'Home'],
  ['g c', 'Conversations'],
  ['g a', 'Agents'],
  ['Ctrl-K', 'Go to a page, an agent or a conversation'],
  ['Ctrl-Enter', 'Send the form'],
  ['?', 'This list'],
] as const;

/** Keys without Ctrl can be in the way of speech input. */
function LetterKeys() {
  const { hasLetterKeys, path } = useLayoutContext();
  return (
    <PostButton
      label={hasLetterKeys ? 'Turn single keys off' : 'Turn single keys on'}
      action={preferencesPath}
      hidden={{ to: path, letters: hasLetterKeys ? 'off' : 'on' }}
      redirects={false}
    />
  );
}

/** The keyboard map. The key `?` opens it over any page. */
export const keysPage = definePage({
  path: '/console/keys',
  title: 'Keyboard',
  frame: 'over',
  sections: () => [
    () => (
      <Card>
        <Facts facts={keyboard.map(([keys, text]) => [keys, text] as const)} />
        <LetterKeys />
      </Card>
    ),
  ],
});
