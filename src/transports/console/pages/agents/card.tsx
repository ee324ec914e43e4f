import { renderCardBody } from '../../../http/render-card-body.ts';
import { Handle, monogram } from '../../components/rows.tsx';
import type { Profile } from './fields.tsx';

/** The card of an agent as others see it. */
export function AgentCard({ handle, profile }: { handle: string; profile: Profile }) {
  const { display_name, description, skills, card_body } = profile;
  return (
    <div class="agent-card">
      <div class="agent-card-top">
        <span class="mark" aria-hidden="true">
          {monogram(display_name)}
        </span>
        <div>
          <p class="agent-card-name">{display_name}</p>
          <Handle of={handle} />
        </div>
      </div>
      {description !== '' && <p class="preserve-lines">{description}</p>}
      {skills.length > 0 && (
        <ul class="agent-card-skills">
          {skills.map((skill) => (
            <li key={skill.name}>
              <strong>{skill.name}</strong> {skill.description}
            </li>
          ))}
        </ul>
      )}
      {/* Rendered from Markdown without raw HTML, and sanitized. */}
      <div class="markdown" dangerouslySetInnerHTML={{ __html: renderCardBody(card_body) }} />
    </div>
  );
}
