// What keeps an artefact from being built.

/** The project can't be built, for a reason that its author can change. */
export class ArtefactFault extends Error {}
