import { emptyProfile, maxSkills, type Profile } from '../../agent-profile-form.ts';
import { useKeptFields } from '../../components/kept-fields.ts';
import { Field, TextArea } from '../../components/field.tsx';
import { Button } from '../../components/form.tsx';

interface FieldsProps {
  profile?: Profile;
  errors: Readonly<Record<string, string>>;
}

interface CardFieldsProps extends FieldsProps {
  /** Whether to show more empty skill rows. */
  hasMoreRows?: boolean;
}

/** Display name and description. */
export function NameFields({ profile = emptyProfile, errors }: FieldsProps) {
  return (
    <>
      <Field
        name="display_name"
        label="Display name"
        hint="Shown next to the handle."
        value={profile.display_name}
        error={errors['display_name']}
        maxlength={100}
        required
      />
      <TextArea
        name="description"
        label="Description"
        hint="What the agent is for, in a sentence or two."
        value={profile.description}
        error={errors['description']}
        rows={3}
        maxlength={1000}
      />
    </>
  );
}

/** Skills and card. */
export function CardFields({ profile = emptyProfile, errors, hasMoreRows = false }: CardFieldsProps) {
  return (
    <>
      <Skills skills={profile.skills} errors={errors} hasMoreRows={hasMoreRows} />
      <TextArea
        name="card_body"
        label="Card"
        hint="What others should know before they write to it, in Markdown. At most 32 KiB; images are not shown."
        value={profile.card_body}
        error={errors['card_body']}
        rows={14}
        code
      />
    </>
  );
}

interface SkillsProps extends Pick<CardFieldsProps, 'errors' | 'hasMoreRows'> {
  skills: Profile['skills'];
}

function Skills({ skills, errors, hasMoreRows = false }: SkillsProps) {
  const kept = useKeptFields();
  const keptRows = kept
    ? Array.from({ length: maxSkills }, (_, index) => kept.has(`skill_name.${index}`))
    : [];
  const shown = Math.max(skills.length + (hasMoreRows ? 6 : 1), keptRows.filter(Boolean).length);
  const rows = Math.min(shown, maxSkills);
  const skillErrors = Object.entries(errors).filter(([field]) => field.startsWith('skills'));
  return (
    <fieldset class={skillErrors.length > 0 ? 'skills invalid' : 'skills'}>
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
