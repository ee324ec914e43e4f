import type { ComponentChildren } from 'preact';
import type { Visibility } from '../../../../packages/core/src/domain/agents/agents.ts';
import type { AgentOfPerson } from '../../../services/people/agents.ts';
import { Badge } from './content.tsx';
import { Rows } from './rows.tsx';

type ShownAgent = Pick<
  AgentOfPerson,
  'id' | 'canonical_handle' | 'display_name' | 'scope' | 'visibility' | 'paused' | 'is_online' | 'owner_name'
>;

/** A list of agents with links to their pages. */
export function AgentRows({ agents }: { agents: readonly ShownAgent[] }) {
  const rows = agents.map((agent) => ({
    key: agent.id,
    mark: monogram(agent.display_name),
    title: <a href={`/console/agents/${agent.id}`}>{agent.display_name}</a>,
    text: <Handle of={agent.canonical_handle} />,
    side: <AgentBadges {...agent} />,
  }));
  return <Rows label="Agents" rows={rows} />;
}

const visibilityNames: Record<Visibility, string> = {
  private: 'Private',
  unlisted: 'Unlisted',
  public: 'Public',
};

/** Badges for the state, scope and visibility of an agent. */
export function AgentBadges({
  scope,
  visibility,
  paused,
  is_online,
}: Pick<ShownAgent, 'scope' | 'visibility' | 'paused' | 'is_online'>) {
  return (
    <>
      {is_online && <Badge tone="good">Online</Badge>}
      {paused && <Badge tone="warning">Paused</Badge>}
      {scope !== 'personal' && <Badge>{scope === 'shared' ? 'Shared' : 'Organization'}</Badge>}
      <Badge tone={visibility === 'public' ? 'accent' : 'plain'}>{visibilityNames[visibility]}</Badge>
    </>
  );
}

/** A handle with @. */
export function Handle({ of }: { of: string }) {
  return <span class="code">@{of}</span>;
}

/** The options of a select box for one of the agents. @param all the text of the option for all of them */
export function toAgentOptions(agents: readonly Pick<ShownAgent, 'id' | 'canonical_handle'>[], all?: string) {
  const options = agents.map(({ id, canonical_handle }) => ({ value: id, text: `@${canonical_handle}` }));
  return all === undefined ? options : [{ value: '', text: all }, ...options];
}

/** The path of the public card of an agent. */
export const cardPath = (handle: string): string => `/v1/agents/${handle.replace('.', '/')}/card`;

interface CardLinkProps {
  handle: string;
  /** Undefined for an agent that is deleted or cannot be seen. */
  visibility: Visibility | undefined;
  children: ComponentChildren;
}

/** A link to the card of an agent, if everybody can read it. */
export function CardLink({ handle, visibility, children }: CardLinkProps) {
  return visibility === 'public' ? <a href={cardPath(handle)}>{children}</a> : <>{children}</>;
}

/** The first letter of a name, as its icon. */
export function monogram(name: string): string {
  const [first] = new Intl.Segmenter('en').segment(name.trim());
  return first?.segment ?? '?';
}
