import { emptyProfile, maxSkills, type Profile } from '../../agent-profile-form.ts';
import { Field, TextArea } from '../../components/field.tsx';
import { Button } from '../../components/form.tsx';

interface FieldsProps {
  profile?: Profile;
  errors: Readonly<Record<string, string>>;
}

interface CardFieldsProps extends FieldsProps {
  /** Whether more rows for skills were asked for. */
  more?: boolean;
}

/** What people read first of an agent. */
export function NameFields({ profile = emptyProfile, errors }: FieldsProps) {
  return (
    <>
      <Field
        name="display_name"
        label="Display name"
        hint="What people see beside the handle."
        value={profile.display_name}
        error={errors['display_name']}
        maxlength={100}
        required
      />
      <TextArea
        name="description"
        label="Description"
        hint="What it is for, in a sentence or two."
        value={profile.description}
        error={errors['description']}
        rows={3}
        maxlength={1000}
      />
    </>
  );
}

/** What else an agent says of itself: its card. */
export function CardFields({ profile = emptyProfile, errors, more = false }: CardFieldsProps) {
  return (
    <>
      <Skills skills={profile.skills} errors={errors} more={more} />
      <TextArea
        name="card_body"
        label="Card"
        hint="Whatever others should know before they write to it, in Markdown. 32 KiB at most; pictures are not shown."
        value={profile.card_body}
        error={errors['card_body']}
        rows={14}
        code
      />
    </>
  );
}

interface SkillsProps extends Pick<CardFieldsProps, 'errors' | 'more'> {
  skills: Profile['skills'];
}

function Skills({ skills, errors, more = false }: SkillsProps) {
  const rows = Math.min(skills.length + (more ? 6 : 1), maxSkills);
  const faults = Object.entries(errors).filter(([field]) => field.startsWith('skills'));
  return (
    <fieldset class={faults.length > 0 ? 'skills wrong' : 'skills'}>
      <legend>Skills</legend>
      <p class="hint">
        What it can do for others, up to {maxSkills}: a short name in lower case, and what that means. Rows
        left empty do not count.
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
            label="What it means"
            value={skills[index]?.description}
            error={errors[`skills.${index}.description`]}
            maxlength={500}
          />
        </div>
      ))}
      {rows < maxSkills && (
        <p>
          <Button kind="quiet" name="do" value="rows">
            More rows
          </Button>
        </p>
      )}
    </fieldset>
  );
}
