import { maxDisplayNameLength } from '../../../../services/people/display-names.ts';
import { Field } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';

interface DisplayNameFormProps {
  action: string;
  /** The stored name; null if there is none. */
  value: string | null;
  hint: string;
  error: string | undefined;
}

/** The form for the display name of a person or an organization. */
export function DisplayNameForm({ action, value, hint, error }: DisplayNameFormProps) {
  return (
    <Form action={action}>
      <Field
        name="display_name"
        label="Display name"
        hint={hint}
        value={value ?? undefined}
        error={error}
        maxlength={maxDisplayNameLength}
        plain
      />
      <Actions>
        <Button>Save name</Button>
      </Actions>
    </Form>
  );
}
