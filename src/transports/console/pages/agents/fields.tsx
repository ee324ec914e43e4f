import { Field } from '../../components/field.tsx';
import { Button } from '../../components/form.tsx';
import { useKeptFields } from '../../components/kept-fields.ts';
import { type FieldDefinition, linesField, textField } from '../../define/fields.tsx';
import type { FormErrors } from '../../form-errors.ts';
import { renderCardBody } from '../../../http/render-card-body.ts';
import { Handle, monogram } from '../../components/rows.tsx';

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

/** The profile of an agent as form values. */
export interface Profile {
  display_name: string;
  description: string;
  card_body: string;
  skills: { name: string; description: string }[];
}

const maxSkills = 20;

/** Maximum size of a profile form, in bytes: a card of 32 KiB and the other fields, with every byte escaped. */
export const maxProfileFormBytes = 256 * 1024;

/** Display name and description. */
export const nameFields = {
  display_name: textField('Display name', 'Shown next to the handle.', { maxlength: 100, required: true }),
  description: linesField('Description', 'What the agent is for, in a sentence or two.', {
    rows: 3,
    maxlength: 1000,
  }),
};

/** Skills and card. @param hasMoreRows whether to show more empty skill rows */
export function cardFields(hasMoreRows: boolean) {
  const skills: FieldDefinition<Profile['skills']> = {
    read: readSkills,
    show: ({ value = [], errors }) => <Skills skills={value} errors={errors} hasMoreRows={hasMoreRows} />,
  };
  return {
    skills,
    card_body: linesField(
      'Card',
      'What others should know before they write to it, in Markdown. At most 32 KiB; images are not shown.',
      { rows: 14, code: true, isVerbatim: true },
    ),
  };
}

interface SkillsProps {
  skills: Profile['skills'];
  errors: FormErrors['fields'];
  hasMoreRows: boolean;
}

function Skills({ skills, errors, hasMoreRows }: SkillsProps) {
  const kept = useKeptFields();
  const keptRows = kept
    ? Array.from({ length: maxSkills }, (_, index) => kept.has(`skill_name.${index}`))
    : [];
  const shown = Math.max(skills.length + (hasMoreRows ? 6 : 1), keptRows.filter(Boolean).length);
  const rows = Math.min(shown, maxSkills);
  const hasErrors = Object.keys(errors).some((field) => field.startsWith('skills'));
  return (
    <fieldset class={hasErrors ? 'skills invalid' : 'skills'}>
      <legend>Skills</legend>
      <p class="hint">
        What it can do for others: up to {maxSkills} skills with a short lowercase name and a description.
        Empty rows are ignored.
      </p>
      {Array.from({ length: rows }, (_, index) => (
        <div class="skill" key={index}>
          <Field
            name={`skill_name.${index}`}
            label={`Skill ${index + 1}`}
            value={skills[index]?.name}
            error={errors[`skills.${index}.name`]}
            maxlength={64}
            plain
          />
          <Field
            name={`skill_description.${index}`}
            label="Description of the skill"
            value={skills[index]?.description}
            error={errors[`skills.${index}.description`]}
            maxlength={500}
          />
        </div>
      ))}
      {rows < maxSkills && (
        <p>
          <Button kind="quiet" name="intent" value="rows">
            Add rows
          </Button>
        </p>
      )}
    </fieldset>
  );
}

/** Reads the skills of a form, without empty rows. */
function readSkills(form: URLSearchParams): Profile['skills'] {
  const read = (name: string) => (form.get(name) ?? '').trim();
  return Array.from({ length: maxSkills }, (_, index) => ({
    name: read(`skill_name.${index}`),
    description: read(`skill_description.${index}`),
  })).filter(({ name, description }) => name !== '' || description !== '');
}
