import type { NotesGreetHandler } from "../../generated/types/notes.js";

export const greet: NotesGreetHandler = ({ name }) => ({ greeting: `Hello, ${name}` });
